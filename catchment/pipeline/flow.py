"""How fast rows go into and out of a query, and how long they take, measured at its topics.

Spark reports a real-time query only once per checkpoint. The topics know better: their end offsets give
the rates, and the newest output carries the time of origin of the record that caused it.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from confluent_kafka import KafkaException, Message, TopicPartition

from catchment.config import Config
from catchment.kafka.clients import consumer, end_offsets
from catchment.kafka.parties import Party
from catchment.pipeline.query import Query
from catchment.records import ORIGIN_HEADER, Kind

READ_S = 1.0


@dataclass(frozen=True)
class Flow:
    """Rates and delay of one query; a delay is known only after its first output."""

    rows_in_per_s: float = 0.0
    rows_out_per_s: float = 0.0
    delay_ms: float | None = None


class FlowMeter:
    """Looks at the ends of a query's topics, and compares with the time before."""

    def __init__(self, config: Config, query: Query) -> None:
        self._query = query
        self._consumer = consumer(config, Party.PIPELINE, **{"fetch.message.max.bytes": 65_536})
        self._ends: dict[tuple[str, int], int] = {}
        self._looked_at = 0.0
        self._delay_ms: float | None = None

    def measure(self) -> Flow:
        """The flow since the last call. While Kafka is away there is none."""
        try:
            ends = self._current_ends()
        except KafkaException:
            return Flow(delay_ms=self._delay_ms)
        now = time.monotonic()
        before, self._ends = self._ends or ends, ends
        seconds, self._looked_at = now - self._looked_at, now
        grown = {
            place: end - before.get(place, 0) for place, end in ends.items() if end != before.get(place, 0)
        }
        outputs = [place for place in grown if place[0] in _topics(self._query.writes)]
        self._delay_ms = self._newest_delay_ms(outputs) or self._delay_ms
        return Flow(
            rows_in_per_s=_total(grown, self._query.reads) / seconds,
            rows_out_per_s=_total(grown, self._query.writes) / seconds,
            delay_ms=self._delay_ms,
        )

    def close(self) -> None:
        self._consumer.close()

    def _current_ends(self) -> dict[tuple[str, int], int]:
        return {
            (topic, partition): end
            for topic in _topics(self._query.reads + self._query.writes)
            for partition, end in end_offsets(self._consumer, topic).items()
        }

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


def _topics(kinds: Iterable[Kind]) -> list[str]:
    return [kind.topic for kind in kinds]


def _total(grown: dict[tuple[str, int], int], kinds: Iterable[Kind]) -> int:
    topics = _topics(kinds)
    return sum(rows for (topic, _), rows in grown.items() if topic in topics)


def _delay_ms(output: Message) -> float | None:
    origin_us = dict(output.headers() or []).get(ORIGIN_HEADER)
    if origin_us is None:
        return None
    _, written_at_ms = output.timestamp()
    return round(max(0.0, written_at_ms - int(origin_us) / 1000), 1)
