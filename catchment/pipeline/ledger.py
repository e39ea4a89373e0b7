"""The ledger: for every source, how many records arrived, and which are missing, repeated or late.

Records without a valid stamp cannot be counted: they go to the dead letters.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.pipeline import operators
from catchment.records import (
    FIRST_SEQUENCE,
    IDENTITY,
    IDENTITY_OFFSET,
    LAST_SEQUENCE,
    REASON_HEADER,
    STAMP_HEADER,
    STAMP_VERSION,
    TOPIC_HEADER,
)

OPERATOR = "catchment.ledger.Ledger"


def ledger(records: DataFrame) -> DataFrame:
    """From records as Kafka has them to rows for the topics `ledger` and `deadletter`."""
    return operators.apply(OPERATOR, stamps(records)).select("topic", "key", "value", "headers")


def stamps(records: DataFrame) -> DataFrame:
    """The stamp of every record; what has none is wrapped up as a dead letter."""
    stamp = F.get(F.filter("headers", lambda header: header["key"] == STAMP_HEADER), F.lit(0))["value"]
    with_stamp = records.select("topic", "key", "value", "headers", stamp.alias("stamp"))
    identity = F.expr(f"substring(stamp, {IDENTITY_OFFSET + 1})").cast("string")
    return with_stamp.withColumn("identity", identity).select(
        F.when(_is_valid(), F.col("identity")).otherwise("").alias("identity"),
        "stamp",
        F.when(~_is_valid(), _dead_letter()).alias("letter"),
    )


def _is_valid() -> Column:
    version = F.expr(f"substring(stamp, 1, 1) = X'{STAMP_VERSION:02X}'")
    sequence = F.expr(f"substring(stamp, 2, 8) BETWEEN X'{FIRST_SEQUENCE:016X}' AND X'{LAST_SEQUENCE:016X}'")
    identity = F.col("identity").rlike(f"^{IDENTITY.pattern}$")
    return F.coalesce(version & sequence & identity, F.lit(False))


def _dead_letter() -> Column:
    reason = F.array(
        header(REASON_HEADER, F.lit("invalid-stamp")),
        header(TOPIC_HEADER, F.col("topic")),
    )
    return F.struct("key", "value", F.concat(F.coalesce("headers", F.array()), reason).alias("headers"))


def header(name: str, value: Column) -> Column:
    """One header of a record for Kafka."""
    return F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value"))
