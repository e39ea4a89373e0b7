"""The first half of the twins' way: messages about many objects become one change for each.

Messages are what the API writes, records of streams that a feed names, and measurements that a feed names.
What cannot be split goes to the dead letters, and its sender is told. Each node splits what is of its own
site.
"""

from pyspark.sql import DataFrame

from catchment.pipeline import operators
from catchment.pipeline.control import Declarations, sharded
from catchment.records import Kind

OPERATOR = "catchment.twins.Split"
DATA = (Kind.TWIN_MESSAGES, Kind.RECORDS, Kind.MEASUREMENTS)


def twin_split(rows: DataFrame, site: str, declared: Declarations) -> DataFrame:
    """From messages and declarations to rows for `twin-changes`, `twin-outcomes` and `deadletter`."""
    in_shards = sharded(rows, data=DATA, by_key=[Kind.SENSORS])
    results = operators.apply(OPERATOR, in_shards, site, declared.to_java(rows.sparkSession))
    return results.select("topic", "key", "value", "headers")
