"""Queries that rest until something that people declare asks for them: even an idle query costs CPU."""

import shutil
from collections.abc import Iterable

from confluent_kafka import KafkaException

from catchment.config import Config
from catchment.kafka.clients import consumer, end_offsets
from catchment.kafka.parties import Party
from catchment.pipeline.control import read_declarations
from catchment.pipeline.query import Query
from catchment.pipeline.runner import QueryRunner


class Rest:
    """Looks at the ends of the topics that decide, and reads them when they have grown."""

    def __init__(self, config: Config, queries: Iterable[Query]) -> None:
        self._config = config
        self._queries = {query.name: query for query in queries if query.since}
        self._consumer = consumer(config, Party.PIPELINE)
        self._ends: dict[str, int] = {}

    def tend(self, runners: Iterable[QueryRunner]) -> None:
        """Lets queries rest that nothing asks for, and wakes those that something does."""
        for runner in runners:
            query = self._queries.get(runner.name)
            if query:
                try:
                    self._tend(query, runner)
                except KafkaException:
                    return

    def close(self) -> None:
        self._consumer.close()

    def _tend(self, query: Query, runner: QueryRunner) -> None:
        ends = sum(sum(end_offsets(self._consumer, kind.topic).values()) for kind in query.asked_by)
        if self._ends.get(query.name) == ends:
            return
        assert query.since
        declared = read_declarations(self._config, query.asked_by, ())
        self._ends[query.name] = ends
        if query.since(declared, self._config) is not None:
            runner.wake()
        else:
            runner.rest()
            # When it is woken, what came meanwhile is nothing that was asked for.
            shutil.rmtree(self._config.paths.checkpoints / query.name, ignore_errors=True)
