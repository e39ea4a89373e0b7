"""The second half of the twins' way: changes are applied to the state of objects, by their declared types.

What really changes becomes a new version on the changelog and an update in the history. What is refused goes
to the dead letters, and its sender is told. Each node applies changes of objects of its own site.
"""

from pyspark.sql import DataFrame

from catchment.pipeline import operators
from catchment.pipeline.control import Declarations, sharded
from catchment.records import Kind

OPERATOR = "catchment.twins.Twins"


def applied(rows: DataFrame, site: str, declared: Declarations) -> DataFrame:
    """From changes and types to rows for `twins`, `twin-history`, `twin-outcomes` and `deadletter`."""
    in_shards = sharded(rows, data=[Kind.TWIN_CHANGES])
    results = operators.apply(OPERATOR, in_shards, site, declared.to_java(rows.sparkSession))
    return results.select("topic", "key", "value", "headers")
