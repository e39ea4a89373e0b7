"""How fast rows go into and out of queries, and how long they take, measured at their topics.

Spark reports a real-time query only once per checkpoint. The topics know better: their end offsets give
the rates, and the newest output carries the time of origin of the record that caused it.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from confluent_kafka import KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from catchment.config import Config
from catchment.errors import InvalidRecord
from catchment.kafka.clients import REQUEST_TIMEOUT_S, client_settings, consumer
from catchment.kafka.parties import Party
from catchment.pipeline.query import Outlet, Query
from catchment.records import ORIGIN_HEADER, STAMP_HEADER, Kind, Stamp

READ_S = 1.0
# Written by many, the gateway among them: how it grows says nothing of one query.
SHARED = frozenset({Kind.DEADLETTER})


@dataclass(frozen=True)
class Flow:
    """Rates and delay of one query; a delay is known only after its first output."""

    rows_in_per_s: float = 0.0
    rows_out_per_s: float = 0.0
    delay_ms: float | None = None


Ends = dict[tuple[str, int], int]


class FlowMeter:
    """Looks at the ends of all topics of all queries at once, and compares with the time before."""

    def __init__(self, config: Config, queries: Iterable[Query]) -> None:
        self._queries = tuple(queries)
        self._admin = AdminClient(client_settings(config, Party.PIPELINE))
        self._consumer = consumer(config, Party.PIPELINE, **{"fetch.message.max.bytes": 65_536})
        self._ends: Ends = {}
        self._looked_at = 0.0
        self._delays_ms: dict[str, float | None] = {}
        self._rows_put_out: dict[str, int] = {}

    def measure(self) -> dict[str, Flow]:
        """The flow of every query since the last call. While Kafka is away there is none."""
        try:
            ends = self._current_ends()
        except KafkaException:
            return {name: Flow(delay_ms=delay_ms) for name, delay_ms in self._delays_ms.items()}
        now = time.monotonic()
        before, self._ends = self._ends or ends, ends
        seconds, self._looked_at = now - self._looked_at, now
        grown = {place: end - before.get(place, 0) for place, end in ends.items()}
        return {query.name: self._flow(query, grown, seconds) for query in self._queries}

    def close(self) -> None:
        self._consumer.close()

    def _flow(self, query: Query, grown: Ends, seconds: float) -> Flow:
        # Declarations are no data; rows in and out are what flows.
        rows_in = sum(_of(grown, query.reads).values())
        rows_out, delay_ms = (
            self._put_out(query.name, query.outlet) if query.outlet else self._written(query, grown)
        )
        self._delays_ms[query.name] = delay_ms
        return Flow(rows_in / seconds, rows_out / seconds, delay_ms)

    def _written(self, query: Query, grown: Ends) -> tuple[int, float | None]:
        """Rows on topics, and the delay of the newest of them, or of the last before."""
        written = _of(grown, set(query.writes) - SHARED)
        newest = self._newest_delay_ms(place for place, rows in written.items() if rows)
        return sum(written.values()), newest or self._delays_ms.get(query.name)

    def _put_out(self, name: str, outlet: Outlet) -> tuple[int, float | None]:
        """Rows that left by an outlet, which knows its own delay."""
        progress = outlet.progress()
        before, self._rows_put_out[name] = self._rows_put_out.get(name, 0), progress.rows
        return progress.rows - before, progress.delay_ms

    def _current_ends(self) -> Ends:
        ends = {place: OffsetSpec.latest() for place in self._places()}  # type: ignore[no-untyped-call]
        asked = self._admin.list_offsets(ends, request_timeout=REQUEST_TIMEOUT_S)
        return {(place.topic, place.partition): told.result().offset for place, told in asked.items()}

    def _places(self) -> list[TopicPartition]:
        kinds = {kind for query in self._queries for kind in (*query.reads, *query.writes)} - SHARED
        topics = self._admin.list_topics(timeout=REQUEST_TIMEOUT_S).topics
        return [
            TopicPartition(kind.topic, partition)
            for kind in kinds
            if kind.topic in topics
            for partition in topics[kind.topic].partitions
        ]

    def _newest_delay_ms(self, places: Iterable[tuple[str, int]]) -> float | None:
        newest = [
            TopicPartition(topic, partition, self._ends[topic, partition] - 1) for topic, partition in places
        ]
        if not newest:
            return None
        self._consumer.assign(newest)
        messages = [message for message in self._consumer.consume(1, READ_S) if message.error() is None]
        self._consumer.unassign()
        return next((delay for delay in map(_delay_ms, messages) if delay is not None), None)


def _of(grown: Ends, kinds: Iterable[Kind]) -> Ends:
    topics = {kind.topic for kind in kinds}
    return {place: rows for place, rows in grown.items() if place[0] in topics}


def _delay_ms(output: Message) -> float | None:
    origin_us = _origin_us(dict(output.headers() or []))
    if origin_us is None:
        return None
    _, written_at_ms = output.timestamp()
    return round(max(0.0, written_at_ms - origin_us / 1000), 1)


def _origin_us(headers: dict[str, bytes | str | None]) -> int | None:
    """When the record behind an output began its way: said by itself, or by the stamp that it carries."""
    origin_us, stamp = headers.get(ORIGIN_HEADER), headers.get(STAMP_HEADER)
    if origin_us is not None:
        return int(origin_us)
    try:
        return Stamp.decode(stamp).origin_us if isinstance(stamp, bytes) else None
    except InvalidRecord:
        return None
