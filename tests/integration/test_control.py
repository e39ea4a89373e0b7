"""Declarations among the data: where each row goes, and what the driver reads before a query starts."""

from collections import Counter

from pyspark.sql import SparkSession

from catchment.config import Config
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.pipeline.control import SHARDS, Declaration, read_declarations, shard_of, sharded
from catchment.records import Kind

SCHEMA = (
    "topic string, partition int, offset bigint, key binary, value binary, "
    "headers array<struct<key: string, value: binary>>"
)
KEYS = [f"oslo/stream-{number}".encode() for number in range(200)]


def rows_of(kind: Kind) -> list[tuple[object, ...]]:
    return [(kind.topic, 0, offset, key, b"value", []) for offset, key in enumerate(KEYS)]


def test_data_have_one_shard_and_declarations_have_all(spark: SparkSession) -> None:
    kinds = (Kind.RECORDS, Kind.MAPPINGS, Kind.SENSORS)
    frame = spark.createDataFrame([row for kind in kinds for row in rows_of(kind)], SCHEMA)
    rows = sharded(frame, data=[Kind.RECORDS], by_key=[Kind.SENSORS]).collect()
    found = Counter((row.topic, bytes(row.key), row.shard, row.declared) for row in rows)
    assert found == Counter(
        [(Kind.RECORDS.topic, key, shard_of(key), False) for key in KEYS]
        + [(Kind.SENSORS.topic, key, shard_of(key), True) for key in KEYS]
        + [(Kind.MAPPINGS.topic, key, shard, True) for key in KEYS for shard in range(SHARDS)]
    )
    assert {shard_of(key) for key in KEYS} == set(range(SHARDS))


def test_a_record_without_a_key_has_a_shard_as_well(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(Kind.RECORDS.topic, 0, 0, None, b"", None)], SCHEMA)
    assert [row.shard for row in sharded(frame, data=[Kind.RECORDS]).collect()] == [0]


def test_the_driver_reads_the_newest_of_each_key_and_leaves_out_what_was_removed(cluster: Config) -> None:
    writer = producer(cluster, Party.API)
    changed, removed = b"control/changed", b"control/removed"
    for key, value in ((changed, b"1"), (removed, b"1"), (changed, b"2"), (removed, None)):
        writer.produce(Kind.SENSOR_TYPES.topic, value, key)
    assert writer.flush(30) == 0
    declared = read_declarations(cluster, [Kind.SENSOR_TYPES], [])
    own = [each for each in declared.newest if each.key.startswith(b"control/")]
    (end,) = declared.reached.values()
    assert own == [Declaration(Kind.SENSOR_TYPES, changed, b"2", offset=own[0].offset)]
    assert own[0].offset < end - 1
