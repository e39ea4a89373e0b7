"""Queries whose plan depends on what is declared: built anew when that asks for another plan.

Most of what people declare reaches a running query as rows. But whether a query has to look at a whole topic
at all is decided when it is built: rows that no declaration asks for are dropped before they cost anything.
"""

from collections.abc import Iterable

from confluent_kafka import KafkaException

from catchment.config import Config
from catchment.kafka.clients import consumer, end_offsets
from catchment.kafka.parties import Party
from catchment.pipeline.control import read_declarations
from catchment.pipeline.query import Query


class Shapes:
    """Looks at the ends of the topics of declarations, and reads them when they have grown."""

    def __init__(self, config: Config, queries: Iterable[Query]) -> None:
        self._config = config
        self._queries = [query for query in queries if query.shape]
        self._consumer = consumer(config, Party.PIPELINE)
        self._ends: dict[str, int] = {}
        self._shapes: dict[str, object] = {}
        # Before any query is started: what is declared from now on is seen.
        self.outdated()

    def outdated(self) -> list[str]:
        """The names of queries that were built for other declarations than those of now."""
        try:
            return [query.name for query in self._queries if self._has_changed(query)]
        except KafkaException:
            return []

    def close(self) -> None:
        self._consumer.close()

    def _has_changed(self, query: Query) -> bool:
        assert query.shape
        ends = sum(sum(end_offsets(self._consumer, kind.topic).values()) for kind in query.shaped_by)
        if self._ends.get(query.name) == ends:
            return False
        declared = read_declarations(self._config, query.shaped_by, ())
        before = self._shapes.get(query.name)
        self._shapes[query.name] = shape = query.shape(declared, self._config)
        self._ends[query.name] = ends
        return before is not None and before != shape
