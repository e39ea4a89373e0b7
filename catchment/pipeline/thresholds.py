"""Rules on measurements: events when a transgression starts, while it lasts, and when it ends.

Measurements that a rule is about and that cannot be read go to the dead letters.

A query that starts again judges the readings since its last checkpoint once more. As long as nothing was
declared in that time, events come out as they were, with the same numbers. But a rule that changed
is known from the start then, and what had been told under the old one would never come to its end. So
the operator is given what was told since the checkpoint, and ends that when it finds the rule changed.
"""

from dataclasses import dataclass

from py4j.java_gateway import JavaObject
from pyspark.sql import DataFrame, SparkSession

from catchment.config import Config
from catchment.kafka.clients import read_all
from catchment.kafka.parties import Party
from catchment.pipeline import operators
from catchment.pipeline.control import READ_TIMEOUT_S, Declarations, shard_of, sharded
from catchment.records import Kind
from catchment.schemas.schema import parse
from catchment.schemas.shipped import THRESHOLD_EVENT, shipped

NAME = "thresholds"
OPERATOR = "catchment.thresholds.Thresholds"
# A checkpoint takes a while, and its file is dated at its end.
CHECKPOINT_MS = 60_000


@dataclass(frozen=True)
class Told:
    """Keys and values of messages on the topic of events; those of this node's rules count."""

    node: str
    messages: tuple[tuple[bytes, bytes], ...] = ()

    def to_java(self, spark: SparkSession) -> JavaObject:
        java = spark._jvm.catchment.thresholds.Told(self.node)  # type: ignore[union-attr]
        for key, value in self.messages:
            java.add(shard_of(key), key.decode(errors="replace"), value)
        return java


def thresholds(rows: DataFrame, declared: Declarations, told: Told) -> DataFrame:
    """From measurements and declarations as Kafka has them to rows for `events` and `deadletter`."""
    spark = rows.sparkSession
    in_shards = sharded(rows, data=[Kind.MEASUREMENTS], by_key=[Kind.SENSORS])
    schema = parse(shipped()[THRESHOLD_EVENT])
    parameters = (declared.to_java(spark), schema.text, schema.id, told.to_java(spark))
    return operators.apply(OPERATOR, in_shards, *parameters).select("topic", "key", "value", "headers")


def told_since_checkpoint(config: Config) -> Told:
    """The events that the query wrote after its last checkpoint, and perhaps some more."""
    commits = (config.paths.checkpoints / NAME / "commits").glob("*")
    kept_ms = max((file.stat().st_mtime_ns // 1_000_000 for file in commits), default=0)
    written = (
        (message.key(), message.value())
        for message in read_all(config, Party.PIPELINE, Kind.EVENTS.topic, READ_TIMEOUT_S)
        if message.timestamp()[1] >= kept_ms - CHECKPOINT_MS
    )
    return Told(config.site, tuple((key, value) for key, value in written if key and value))
