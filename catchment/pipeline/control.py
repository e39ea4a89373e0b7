"""Declarations that reach a running query: mappings, schemas, rules and registrations as rows among its data.

Real-time mode runs no Python and reads no table again, so what people declare comes as a stream as well. A
query reads its data and the compacted topics of its declarations in one Kafka source. `sharded` gives
every row of data a shard, by its key, and every declaration to all shards (or, if it is about one key, to
the shard of that key). A Java operator keyed by the shard (jvm/src/catchment/control) keeps the
declarations in its state and applies them to the data.

A declaration could come after the data that it is about when a query starts. So the driver reads the
compacted topics whole before it starts a query, and hands them over as `Declarations`.
"""

import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from py4j.java_gateway import JavaObject
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.config import Config
from catchment.kafka.clients import read_all
from catchment.kafka.parties import Party
from catchment.records import Kind

SHARDS = 16
EVERYWHERE = -1
READ_TIMEOUT_S = 10.0
HEADERS_TYPE = "array<struct<key: string, value: binary>>"


@dataclass(frozen=True)
class Declaration:
    """The newest value of a key of a compacted topic."""

    kind: Kind
    key: bytes
    value: bytes
    offset: int = 0


@dataclass(frozen=True)
class Declarations:
    """What was declared when a query started; `reached` says up to where each partition was read."""

    newest: tuple[Declaration, ...] = ()
    reached: dict[tuple[Kind, int], int] = field(default_factory=dict)
    by_key: frozenset[Kind] = frozenset()

    def to_java(self, spark: SparkSession) -> JavaObject:
        """The same for an operator, told apart by the time from those of earlier starts."""
        java = spark._jvm.catchment.control.Declarations(time.time_ns())  # type: ignore[union-attr]
        for each in self.newest:
            shard = shard_of(each.key) if each.kind in self.by_key else EVERYWHERE
            key = each.key.decode(errors="replace")
            java.add(each.kind.topic, key, each.value, each.offset, shard)
        for (kind, partition), offset in self.reached.items():
            java.reached(kind.topic, partition, offset)
        return java


def read_declarations(
    config: Config, everywhere: Iterable[Kind], by_key: Iterable[Kind], party: Party = Party.PIPELINE
) -> Declarations:
    """All that is declared on these topics now."""
    keyed = frozenset(by_key)
    newest: dict[tuple[Kind, bytes], Declaration] = {}
    reached: dict[tuple[Kind, int], int] = {}
    for kind in (*everywhere, *keyed):
        for message in read_all(config, party, kind.topic, READ_TIMEOUT_S):
            key, value, offset = message.key() or b"", message.value(), message.offset() or 0
            reached[kind, message.partition() or 0] = offset + 1
            newest.pop((kind, key), None)
            if value is not None:
                newest[kind, key] = Declaration(kind, key, value, offset)
    return Declarations(tuple(newest.values()), reached, keyed)


def shard_of(key: bytes) -> int:
    """The shard of a key, as `sharded` computes it."""
    return zlib.crc32(key) % SHARDS


def is_of(site: str) -> Column:
    """Whether data are of a site: the key of all of them begins with it."""
    return F.substring("key", 1, len(site) + 1) == F.lit(f"{site}/".encode())


def sharded(rows: DataFrame, data: Iterable[Kind], by_key: Iterable[Kind] = ()) -> DataFrame:
    """Kafka's rows with the shard that each belongs to; a declaration comes once for every shard."""
    is_data = F.col("topic").isin([kind.topic for kind in data])
    has_one_shard = F.col("topic").isin([kind.topic for kind in (*data, *by_key)])
    own_shard = F.coalesce(F.crc32("key") % SHARDS, F.lit(0)).cast("int")
    shards = F.when(has_one_shard, F.array(own_shard)).otherwise(F.array(*map(F.lit, range(SHARDS))))
    return rows.select(
        F.explode(shards).alias("shard"),
        (~is_data).alias("declared"),
        "topic",
        "partition",
        "offset",
        "key",
        "value",
        F.coalesce("headers", F.array().cast(HEADERS_TYPE)).alias("headers"),
    )
