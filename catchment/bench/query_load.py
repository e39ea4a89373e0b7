"""Writes the records of the benchmark's queries, stamped as a gateway does it."""

import time
from collections.abc import Sequence
from itertools import cycle

from catchment.bench.query_work import WINDOW_MS, Load
from catchment.bench.topics import empty
from catchment.config import Config
from catchment.errors import PartFailed
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.records import STAMP_HEADER, Kind, Source, encode_stamp

GATEWAY = "gateway"
TICK_S = 0.005
FLUSH_S = 60.0
QUEUED_RECORDS = 500_000
SECOND_US = 1_000_000


class Sender:
    """Sends one load or several in turn; numbers go on until it is restarted."""

    def __init__(self, site: Config) -> None:
        self._site = site
        self._writer = producer(
            site,
            Party.ADMIN,
            linger_ms=1,
            compression_type="lz4",
            # As Java chooses partitions, and so the topics in between of Kafka Streams.
            partitioner="murmur2_random",
            queue_buffering_max_messages=QUEUED_RECORDS,
        )
        self._epoch = 0
        self.restart(())

    def restart(self, loads: Sequence[Load]) -> None:
        """Empties the topic, and begins again with the first records of these loads."""
        empty(self._site, Kind.RECORDS.topic)
        self._epoch += 1
        self._loads = cycle(loads) if loads else cycle(())
        self._identities: dict[str, bytes] = {}
        self._sequences: dict[str, int] = {}
        self.sent = {load.name: 0 for load in loads}
        now_ms = time.time_ns() // SECOND_US
        self.start_ms = now_ms - now_ms % WINDOW_MS

    def fill(self, count: int) -> None:
        """Sends so many at once."""
        self._send(count)
        self._flush()

    def pace(self, rate_per_s: int, seconds: float) -> None:
        """Sends so many a second for a while."""
        began_s, done, total = time.perf_counter(), 0, round(rate_per_s * seconds)
        while done < total:
            due = min(total, int((time.perf_counter() - began_s) * rate_per_s)) - done
            self._send(due)
            done += due
            self._writer.poll(0)
            time.sleep(TICK_S)
        self._flush()

    def _send(self, count: int) -> None:
        for _ in range(count):
            load = next(self._loads)
            record = load.record(self.sent[load.name], self.start_ms)
            self.sent[load.name] += 1
            stamp = self._stamp(record.stream)
            while True:
                try:
                    self._writer.produce(
                        Kind.RECORDS.topic, record.value, record.key, headers=[(STAMP_HEADER, stamp)]
                    )
                    break
                except BufferError:
                    self._writer.poll(0.01)

    def _stamp(self, stream: str) -> bytes:
        if stream not in self._identities:
            self._identities[stream] = Source(self._site.site, GATEWAY, self._epoch, stream).identity
        sequence = self._sequences[stream] = self._sequences.get(stream, 0) + 1
        return encode_stamp(self._identities[stream], sequence, time.time_ns() // 1000)

    def _flush(self) -> None:
        if self._writer.flush(FLUSH_S):
            raise PartFailed(
                "Kafka did not take all records in time", "Run it on a machine that is less busy."
            )
