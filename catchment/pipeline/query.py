"""What a query is: a pure function with declared inputs and outputs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol
from zlib import crc32

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from catchment.config import Config
from catchment.kafka.clients import oldest_ms, spark_options
from catchment.kafka.parties import Party
from catchment.kafka.topics import planned
from catchment.pipeline import operators
from catchment.pipeline.control import Declarations, read_declarations
from catchment.records import Kind

Build = Callable[[DataFrame, Config, Declarations], DataFrame]
# Fewer and larger batches cost broker and query less; a batch waits for company only as long as it lingers.
BATCH_BYTES = 131_072
TO_KAFKA = "catchment.pipeline.ToKafka"
NEWEST_TO_KAFKA = "catchment.pipeline.NewestToKafka"
# Spark's own would have a task and a consumer for each partition.
SOURCE = "catchment.source.GatheredKafka"

Since = Callable[[Declarations, Config], int | None]
Reading = Callable[[SparkSession, Config], dict[str, str]]
Launch = Callable[[SparkSession, Config], StreamingQuery]


@dataclass(frozen=True)
class Progress:
    """What an outlet has written since it began; `problem` says why it cannot at this moment."""

    rows: int = 0
    delay_ms: float | None = None
    problem: str = ""
    figures: dict[str, Any] = field(default_factory=dict)


class Outlet(Protocol):
    """Where the rows of a query go when it is not Kafka: it says how that goes, beside Spark."""

    def writer(self, rows: DataFrame, config: Config) -> DataStreamWriter:
        """What writes the rows; checkpoint, name and trigger are added to it."""

    def tend(self) -> None:
        """Called every other second or so while the query runs."""

    def progress(self) -> Progress:
        """How it goes."""

    def close(self) -> None:
        """Called when the query has ended for good."""


@dataclass(frozen=True)
class Query:
    """A continuous query: `build` turns Kafka's columns into rows of topic, key, value and headers.

    With `reading` the source is told to make other rows than Kafka's columns, which `build` gets then.

    One that does not run in real-time mode, or not to Kafka, is started by a `launch` of its own.
    `declarations` and `declarations_by_key` are compacted topics whose entries come among the rows, for all
    shards or for the shard of their key, and as a whole to `build`: see catchment.pipeline.control. With
    an `outlet` the rows are whatever that takes. Of the rows on the topic `newest_of` the newest of each key
    is enough: those that come within a few milliseconds are written as one. A query that would have nothing
    to do rests until there is an entry on one of the topics `rests_until`, of which `since` finds the first
    that asks for it, and begins with what came from that moment on.
    """

    name: str
    reads: tuple[Kind, ...]
    writes: tuple[Kind, ...]
    build: Build | None = None
    reading: Reading | None = None
    launch: Launch | None = None
    declarations: tuple[Kind, ...] = ()
    declarations_by_key: tuple[Kind, ...] = ()
    outlet: Outlet | None = None
    newest_of: Kind | None = None
    rests_until: tuple[Kind, ...] = ()
    since: Since | None = None
    # Where its state is kept, if not under its name.
    checkpoint: str = ""

    @property
    def state(self) -> str:
        """The directory of its state, below that of all checkpoints."""
        return self.checkpoint or self.name

    @property
    def inputs(self) -> tuple[Kind, ...]:
        """All that it reads, data and declarations."""
        return *self.reads, *self.declarations, *self.declarations_by_key


def reading_tasks(query: Query, config: Config) -> int:
    """How many tasks read the inputs of a query at once: of one with a `launch` of its own Spark decides."""
    topics = planned(config)
    partitions = sum(topics[kind].partitions for kind in query.inputs)
    return partitions if query.launch else min(partitions, config.pipeline.source_tasks)


def has_begun(query: Query, config: Config) -> bool:
    """Whether a query has a checkpoint from which it goes on."""
    return any((config.paths.checkpoints / query.state / "offsets").glob("[0-9]*"))


def begins_at_ms(query: Query, config: Config) -> int | None:
    """When there was first something to do for a query that rests until then; None if there is nothing."""
    if query.since:
        return query.since(read_declarations(config, query.rests_until, ()), config)
    topics = [kind.topic for kind in query.rests_until]
    return oldest_ms(config, Party.PIPELINE, topics) if topics else None


def start(query: Query, spark: SparkSession, config: Config) -> StreamingQuery:
    """Starts a query from its last checkpoint, or else from the beginning of its inputs, or of its work."""
    if query.launch:
        return query.launch(spark, config)
    assert query.build
    options = spark_options(config, Party.PIPELINE)
    declared = read_declarations(config, query.declarations, query.declarations_by_key)
    records = (
        spark.readStream.format(SOURCE)
        .options(**options)
        .option("sourceTasks", str(config.pipeline.source_tasks))
        .option("subscribe", ",".join(kind.topic for kind in query.inputs))
        .options(**_beginning(query, config))
        .option("includeHeaders", "true")
        .options(**(query.reading(spark, config) if query.reading else {}))
        # What a relay has not committed does not count: it may come again.
        .option("kafka.isolation.level", "read_committed")
        # A fetch is answered as soon as there is a record: this is only how often an idle query asks again.
        .option("kafka.fetch.max.wait.ms", "5000")
        # What retention took before it was read cannot be had by failing for ever: the ledger names the gap.
        .option("failOnDataLoss", "false")
        .load()
    )
    if config.pipeline.source_tasks == 1:
        # So Spark knows that all is in one place: with one task for state, too, it shuffles nothing.
        records = records.coalesce(1)
    rows = query.build(records, config, declared)
    writer = query.outlet.writer(rows, config) if query.outlet else _to_kafka(rows, query, options)
    started: StreamingQuery = (
        writer.option("checkpointLocation", str(config.paths.checkpoints / query.state))
        .outputMode("update")
        .queryName(query.name)
        # PySpark's own annotations leave this trigger out.
        .trigger(realTime=f"{_interval_ms(query, config)} milliseconds")  # type: ignore[call-overload]
        .start()
    )
    return started


def _beginning(query: Query, config: Config) -> dict[str, str]:
    """Where Spark begins without a checkpoint. What is declared counts from when it was."""
    begins_ms = begins_at_ms(query, config)
    if begins_ms is None:
        return {"startingOffsets": "earliest"}
    return {"startingTimestamp": str(begins_ms), "startingOffsetsByTimestampStrategy": "latest"}


def _interval_ms(query: Query, config: Config) -> int:
    """From checkpoint to checkpoint: up to a tenth more than is set, so that not all pause at once."""
    interval_ms = config.pipeline.checkpoint_interval_s * 1000
    return interval_ms + crc32(query.name.encode()) % (interval_ms // 10)


def _to_kafka(rows: DataFrame, query: Query, options: dict[str, str]) -> DataStreamWriter:
    producer = {
        **{option.removeprefix("kafka."): value for option, value in options.items()},
        "compression.type": "lz4",
        "linger.ms": "3",
        "batch.size": str(BATCH_BYTES),
        # Queries with the same settings would share one client: who writes much would hold up the others.
        "client.id": f"catchment.pipeline.{query.name}",
    }
    columns = rows.select("topic", "key", "value", "headers")
    if query.newest_of is None:
        return operators.writing(columns, TO_KAFKA, producer)
    return operators.writing(columns, NEWEST_TO_KAFKA, producer, query.newest_of.topic)
