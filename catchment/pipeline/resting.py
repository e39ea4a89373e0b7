"""Queries that rest until there is something for them to do: an idle query is not for nothing."""

from confluent_kafka import KafkaException

from catchment.config import Config
from catchment.kafka.clients import consumer, end_offsets
from catchment.kafka.failures import explain
from catchment.kafka.parties import Party
from catchment.pipeline.query import Query, begins_at_ms, has_begun


class Rest:
    """Looks at the ends of the topics that decide, and reads them when they have grown."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._consumer = consumer(config, Party.PIPELINE)
        self._ends: dict[str, int] = {}

    def has_work(self, query: Query) -> bool:
        """Whether a query has begun before, or has something to begin with."""
        if not query.rests_until or has_begun(query, self._config):
            return True
        ends = self._end_of(query)
        if self._ends.get(query.name, 0) == ends:
            return False
        found = begins_at_ms(query, self._config) is not None
        self._ends[query.name] = 0 if found else ends
        return found

    def close(self) -> None:
        self._consumer.close()

    def _end_of(self, query: Query) -> int:
        try:
            return sum(sum(end_offsets(self._consumer, kind.topic).values()) for kind in query.rests_until)
        except KafkaException as error:
            raise explain(f"Looking for work of {query.name}", error) from None
