"""The second half of the twins' way: changes are applied to the state of objects, by their declared types.

What really changes becomes a new version on the changelog and an update in the history. What is refused goes
to the dead letters, and its sender is told. Each node applies changes of objects of its own site.
"""

from pyspark.sql import DataFrame

from catchment.config.twins import StateStore
from catchment.pipeline import operators
from catchment.pipeline.control import Declarations, sharded
from catchment.records import Kind
from catchment.schemas.schema import parse
from catchment.schemas.shipped import TWIN_NOTICE, shipped

OPERATOR = "catchment.twins.Twins"


def applied(rows: DataFrame, site: str, store: StateStore, declared: Declarations) -> DataFrame:
    """From changes and types to rows for the topics of twins, `events` and `deadletter`."""
    in_shards = sharded(rows, data=[Kind.TWIN_CHANGES])
    schema = parse(shipped()[TWIN_NOTICE])
    parameters = (
        site,
        store is StateStore.MEMORY,
        declared.to_java(rows.sparkSession),
        schema.text,
        schema.id,
    )
    results = operators.apply(OPERATOR, in_shards, *parameters)
    return results.select("topic", "key", "value", "headers")
