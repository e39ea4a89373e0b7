"""What is done to twins in the benchmark: the same seeded changes for everybody, as the split writes them."""

import random
import time
from collections.abc import Iterator

import orjson
from confluent_kafka import Producer

from catchment.bench.topics import empty
from catchment.config import Config
from catchment.errors import PartFailed
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.records import STAMP_HEADER, Kind, Source, encode_stamp
from catchment.registry.model import key_of
from catchment.simulate.twins import HIGHEST, Fleet, Messages, change

TICK_S = 0.005
QUEUED_RECORDS = 500_000
FLUSH_S = 60.0
VALUES = 1_009
GATEWAY, EPOCH = "gateway", 1
# What stands in a change for its value, its transaction and its time.
VALUE_HERE, TRANSACTION_HERE, TIME_HERE = 0.125, "transaction-here", 1_234_567


class Script:
    """Changes of all objects of a fleet in turn, the same ones for the same seed.

    The transaction of each is its time of origin in µs: whoever sees a result knows how long it took.
    """

    def __init__(self, site: str, fleet: Fleet) -> None:
        self._objects = list(_objects(site, fleet))
        chance = random.Random(fleet.seed)  # noqa: S311 - values, not secrets
        self._values = [b"%.3f" % chance.uniform(0, HIGHEST) for _ in range(VALUES)]

    def record(self, number: int, origin_us: int) -> tuple[bytes, bytes, bytes]:
        """Key, stamp and value of a change; the first is number 0."""
        turn, place = divmod(number, len(self._objects))
        key, identity, parts = self._objects[place]
        stamp = encode_stamp(identity, turn + 1, origin_us)
        given = (b"%d" % origin_us, b"%d" % (origin_us // 1000), self._values[number % VALUES], b"")
        return key, stamp, b"".join(part for pair in zip(parts, given, strict=True) for part in pair)

    def counts(self, changes: int) -> dict[str, int]:
        """How often each object is changed by the first so many changes, by its key."""
        turns, rest = divmod(changes, len(self._objects))
        return {key.decode(): turns + (place < rest) for place, (key, *_) in enumerate(self._objects)}


class Changes:
    """Writes them to `twin-changes`, as fast as it goes or at an even pace."""

    def __init__(self, site: Config, fleet: Fleet) -> None:
        self._site = site
        self._script = Script(site.site, fleet)
        self._writer = _writer(site)
        self.sent = 0

    @property
    def counts(self) -> dict[str, int]:
        """How often each object was changed so far, by its key."""
        return self._script.counts(self.sent)

    def restart(self) -> None:
        """Empties the topic, and begins with the first change again."""
        empty(self._site, Kind.TWIN_CHANGES.topic)
        self.sent = 0

    def fill(self, count: int) -> None:
        """Writes so many at once."""
        self._send(count)
        _flush(self._writer)

    def pace(self, rate_per_s: int, seconds: float) -> None:
        """Writes so many a second for a while."""
        began_s, before, total = time.perf_counter(), self.sent, round(rate_per_s * seconds)
        while (done := self.sent - before) < total:
            due = min(total, int((time.perf_counter() - began_s) * rate_per_s)) - done
            self._send(due)
            self._writer.poll(0)
            time.sleep(TICK_S)
        _flush(self._writer)

    def _send(self, count: int) -> None:
        for number in range(self.sent, self.sent + count):
            key, stamp, value = self._script.record(number, time.time_ns() // 1000)
            while True:
                try:
                    self._writer.produce(Kind.TWIN_CHANGES.topic, value, key, headers=[(STAMP_HEADER, stamp)])
                    break
                except BufferError:
                    self._writer.poll(0.01)
        self.sent += count


def _objects(site: str, fleet: Fleet) -> Iterator[tuple[bytes, bytes, list[bytes]]]:
    """Of each object the key, the identity of its source, and its changes without what is always new."""
    for device in range(fleet.devices):
        stream = fleet.stream(device)
        identity = Source(site, GATEWAY, EPOCH, stream).identity
        for identifier in fleet.objects_of(device):
            said = {
                "site": site,
                "id": identifier,
                "transaction": TRANSACTION_HERE,
                "user": f"stream/{stream}",
                "at_ms": TIME_HERE,
                "confirm": False,
                "change": change(VALUE_HERE),
            }
            parts = _split(orjson.dumps(said), (TRANSACTION_HERE, str(TIME_HERE), str(VALUE_HERE)))
            yield key_of(site, identifier).encode(), identity, parts


def _split(text: bytes, marks: tuple[str, ...]) -> list[bytes]:
    parts = []
    for mark in marks:
        part, found, text = text.partition(mark.encode())
        assert found
        parts.append(part)
    return [*parts, text]


def fill_records(site: Config, fleet: Fleet, messages: int) -> None:
    """Writes messages of the fleet's devices to `records`, as a gateway does."""
    writer = _writer(site)
    sources = [Source(site.site, GATEWAY, EPOCH, fleet.stream(device)) for device in range(fleet.devices)]
    lines = [Messages(fleet, device, 0) for device in range(fleet.devices)]
    for number in range(messages):
        turn, device = divmod(number, fleet.devices)
        stamp = encode_stamp(sources[device].identity, turn + 1, time.time_ns() // 1000)
        value = lines[device].lines(turn + 1, 1).rstrip()
        writer.produce(Kind.RECORDS.topic, value, sources[device].key, headers=[(STAMP_HEADER, stamp)])
    _flush(writer)


def _writer(site: Config) -> Producer:
    return producer(
        site,
        Party.ADMIN,
        linger_ms=1,
        compression_type="lz4",
        # As Java chooses partitions, and so the split.
        partitioner="murmur2_random",
        queue_buffering_max_messages=QUEUED_RECORDS,
    )


def _flush(writer: Producer) -> None:
    if writer.flush(FLUSH_S):
        raise PartFailed("Kafka did not take all changes in time", "Run it on a machine that is less busy.")
