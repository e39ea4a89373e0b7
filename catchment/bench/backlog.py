"""The pipeline of a benchmark: all queries first, and then single ones over what is on the topics by then.

They share one Spark, so that all of them meet a Java that has seen the work before.
"""

import signal
import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from catchment.bench.site import wait_for
from catchment.config import Config
from catchment.errors import PartFailed
from catchment.health import Reporter
from catchment.kafka.clients import consumer, end_offsets, spark_options
from catchment.kafka.parties import Party
from catchment.pipeline import lake, thresholds
from catchment.pipeline.queries import REAL_TIME
from catchment.pipeline.query import Query, start
from catchment.pipeline.service import Pipeline
from catchment.pipeline.store import store_queries
from catchment.records import Kind

WAIT_S = 300.0
# Batches follow each other at once.
INTERVAL_S = 0.1


def run_pipeline(config: Config, turns: int) -> dict[str, list[float]]:
    """Runs all queries until SIGUSR1; then says how many rows a second each takes of the backlog alone."""
    stopping = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: stopping.set())
    pipeline = Pipeline(config)
    reporter = Reporter(config.paths.socket("pipeline"), pipeline.report)
    spark = pipeline.create_session()
    pipeline.run(spark, stopping)
    reporter.close()
    return Backlog(config, spark).rates(turns)


class Backlog:
    """Takes all that is on the topics, by one query after the other, each with state of its own."""

    def __init__(self, config: Config, spark: SparkSession) -> None:
        self._spark = spark
        self._config = config
        self._reader = consumer(config, Party.PIPELINE)
        self._measurements = self._end(Kind.MEASUREMENTS)

    def rates(self, turns: int) -> dict[str, list[float]]:
        """Rows a second by query."""
        rates: dict[str, list[float]] = {
            "postgres_backlog": [self._store()],
            "thresholds_backlog": [self._rules()],
        }
        # In turn, so that whoever comes later is not favoured.
        pairs = [(self._lake(turn), self._plain_sink(turn)) for turn in range(turns)]
        rates["lake_backlog"], rates["parquet_sink"] = map(list, zip(*pairs, strict=True))
        return {**rates, "measurements_backlog": [self._mapping()]}

    def _store(self) -> float:
        own = self._place("store")
        (name, settings), *_ = own.store.postgres.items()
        renamed = settings.model_copy(update={"schema_name": "backlog"})
        own = own.model_copy(update={"store": own.store.model_copy(update={"postgres": {name: renamed}})})
        (query,) = store_queries(own)
        assert query.outlet
        outlet = query.outlet
        return self._watched(query, own, lambda: outlet.progress().rows, self._stored())

    def _stored(self) -> int:
        return self._measurements + self._end(Kind.EVENTS)

    def _rules(self) -> float:
        """Events come out evenly: how fast they do says how fast readings are judged."""
        events = self._end(Kind.EVENTS)
        (query,) = (query for query in REAL_TIME if query.name == thresholds.NAME)
        told_per_s = self._watched(
            query, self._place("rules"), lambda: self._end(Kind.EVENTS) - events, events
        )
        return told_per_s * self._measurements / events

    def _mapping(self) -> float:
        """Writes every measurement a second time: this comes last."""
        (query,) = (query for query in REAL_TIME if query.name == "measurements")
        return self._watched(
            query,
            self._place("mapping"),
            lambda: self._end(Kind.MEASUREMENTS) - self._measurements,
            self._end(Kind.RECORDS),
        )

    def _watched(self, query: Query, config: Config, done: Callable[[], int], expected: int) -> float:
        """From the first rows that are seen to the last: how long a query takes to start does not count."""
        running = start(query, self._spark, config)
        wait_for(lambda: done() > 0, lambda: _check(running), WAIT_S)
        first, began_s = done(), time.perf_counter()
        wait_for(lambda: done() >= expected, lambda: _check(running), WAIT_S)
        seconds = time.perf_counter() - began_s
        running.stop()
        if query.outlet:
            query.outlet.close()
        return (expected - first) / seconds

    def _lake(self, turn: int) -> float:
        own = self._place(f"lake-{turn}")
        quick = own.lake.model_copy(update={"interval_s": INTERVAL_S})
        running = lake.start(self._spark, own.model_copy(update={"lake": quick}))
        running.processAllAvailable()
        running.stop()
        return _rows_per_s(running)

    def _plain_sink(self, turn: int) -> float:
        """Spark's own file sink, over the same records in batches of the same size."""
        own = self._place(f"sink-{turn}")
        running = (
            self._spark.readStream.format("kafka")
            .options(**spark_options(own, Party.PIPELINE))
            .option("subscribe", ",".join(kind.topic for kind in own.lake.topics))
            .option("startingOffsets", "earliest")
            .option("includeHeaders", "true")
            .option("maxOffsetsPerTrigger", str(own.lake.batch_records))
            .load()
            .writeStream.format("parquet")
            .option("path", str(own.data_dir / "parquet"))
            .option("checkpointLocation", str(own.paths.checkpoints / "sink"))
            .trigger(availableNow=True)
            .start()
        )
        running.awaitTermination()
        return _rows_per_s(running)

    def _place(self, name: str) -> Config:
        """The site's configuration with another directory: state and results of one query alone."""
        directory = self._config.data_dir / name
        directory.mkdir()
        identities = self._config.paths.identities
        (directory / identities.name).symlink_to(identities)
        return self._config.model_copy(update={"data_dir": directory})

    def _end(self, kind: Kind) -> int:
        return sum(end_offsets(self._reader, kind.topic).values())


def _check(running: StreamingQuery) -> None:
    if not running.isActive:
        raise PartFailed(f"The query {running.name} ended: {running.exception()}", "Run the benchmark again.")


def _rows_per_s(ended: StreamingQuery) -> float:
    """From the beginning of the first batch to the end of the last."""
    batches = [each for each in ended.recentProgress if each["numInputRows"]]
    first, last = batches[0], batches[-1]
    seconds = (_time(last) - _time(first)).total_seconds() + last["durationMs"]["triggerExecution"] / 1000
    return float(sum(each["numInputRows"] for each in batches) / seconds)


def _time(progress: Any) -> datetime:
    return datetime.fromisoformat(progress["timestamp"])
