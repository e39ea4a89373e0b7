"""The ledger: for every source, how many records arrived, and which are missing, repeated or late.

Records without a valid stamp cannot be counted: they go to the dead letters.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.pipeline import operators
from catchment.records import REASON_HEADER, TOPIC_HEADER

OPERATOR = "catchment.ledger.Ledger"
IDENTITIES = "catchment.ledger.Identities"


def ledger(records: DataFrame) -> DataFrame:
    """From records as Kafka has them to rows for the topics `ledger` and `deadletter`."""
    return operators.apply(OPERATOR, stamps(records)).select("topic", "key", "value", "headers")


def stamps(records: DataFrame) -> DataFrame:
    """The stamp of every record; what has none is wrapped up as a dead letter."""
    stamp = operators.stamps(records).alias("stamp")
    with_stamp = records.select("topic", "key", "value", "headers", stamp)
    identity = operators.column(IDENTITIES, records, F.col("stamp"))
    return with_stamp.withColumn("identity", identity).select(
        "identity", "stamp", F.when(F.col("identity") == "", _dead_letter()).alias("letter")
    )


def _dead_letter() -> Column:
    reason = F.array(
        header(REASON_HEADER, F.lit("invalid-stamp")),
        header(TOPIC_HEADER, F.col("topic")),
    )
    return F.struct("key", "value", F.concat(F.coalesce("headers", F.array()), reason).alias("headers"))


def header(name: str, value: Column) -> Column:
    """One header of a record for Kafka."""
    return F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value"))
