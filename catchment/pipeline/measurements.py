"""Measurements: what devices send becomes typed records of sensors, by the mappings that people declare.

A record of a stream that no mapping names stays what it is: opaque bytes. What a mapping names and
cannot be turned into a measurement goes to the dead letters, with the reason. Each node maps the records of
its own site; those of other sites come with measurements already made.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.pipeline import operators
from catchment.pipeline.control import Declarations, is_of, sharded
from catchment.records import Kind

OPERATOR = "catchment.measurements.Measurements"
DECLARATIONS = (Kind.MAPPINGS, Kind.SCHEMAS)


def measurements(rows: DataFrame, site: str, declared: Declarations) -> DataFrame:
    """From records and declarations to rows for `measurements`, `sensor-seen` and `deadletter`."""
    is_record = F.col("topic") == Kind.RECORDS.topic
    own = rows.where(~is_record | is_of(site))
    shards = sharded(own, data=[Kind.RECORDS])
    results = operators.apply(OPERATOR, shards, site, declared.to_java(rows.sparkSession))
    return results.select("topic", "key", "value", "headers")
