"""How long readings took to the topic of events and to the lake, from their own times."""

import threading
import time
from pathlib import Path

import orjson
import pyarrow.compute as pc
import pyarrow.parquet as pq
from confluent_kafka import TopicPartition

from catchment.alerts.known import Known
from catchment.config import Config
from catchment.kafka.clients import consumer, end_offsets
from catchment.kafka.parties import Party
from catchment.lake.layout import TIME
from catchment.lake.tables import Lake
from catchment.records import Kind

POLL_S = 0.2
FETCH_WAIT_MS = 10


class EventWatch:
    """Reads events as they come, and keeps when each came."""

    def __init__(self, site: Config) -> None:
        self._decode = Known(site.site).decode
        self._reader = consumer(site, Party.OPERATOR, fetch_wait_max_ms=FETCH_WAIT_MS)
        ends = end_offsets(self._reader, Kind.EVENTS.topic)
        self._reader.assign([TopicPartition(Kind.EVENTS.topic, place, end) for place, end in ends.items()])
        self._came: list[tuple[int, bytes]] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def delays_ms(self, since_ms: int) -> list[float]:
        """Of the events about readings from then on. Ends the watch."""
        self._stopping.set()
        self._thread.join()
        self._reader.close()
        came = ((came_ns / 1e6, self._decode(value).timestamp) for came_ns, value in self._came)
        return [came_ms - told_ms for came_ms, told_ms in came if told_ms >= since_ms]

    def _run(self) -> None:
        while not self._stopping.is_set():
            message = self._reader.poll(POLL_S)
            if message is not None and message.error() is None:
                self._came.append((time.time_ns(), message.value() or b""))


def lake_delay_ms(lake: Lake, table: str, since_ms: int) -> float:
    """The mean of readings from then on: to the commit that made the row part of the table."""
    assert lake.directory
    directory = lake.directory / table
    rows, sum_ms = 0, 0.0
    for commit in sorted((directory / "_delta_log").glob("*.json")):
        committed_ms = commit.stat().st_mtime_ns / 1e6
        for file in _added(commit):
            read = pq.read_table(directory / file, columns=[TIME])
            times_ms = pc.divide(pc.cast(read[TIME], "int64"), 1000)
            chosen = times_ms.filter(pc.greater_equal(times_ms, since_ms))
            rows += len(chosen)
            sum_ms += committed_ms * len(chosen) - (pc.sum(chosen).as_py() or 0)
    return sum_ms / max(1, rows)


def _added(commit: Path) -> list[str]:
    actions = map(orjson.loads, commit.read_bytes().splitlines())
    return [action["add"]["path"] for action in actions if "add" in action]
