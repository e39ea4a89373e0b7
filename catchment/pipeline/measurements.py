"""Measurements: what devices send becomes typed records of sensors, by the mappings that people declare.

A record of a stream that no mapping names stays what it is: opaque bytes. What a mapping names and
cannot be turned into a measurement goes to the dead letters, with the reason. Each node maps the records of
its own site; those of other sites come with measurements already made.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.pipeline import operators
from catchment.pipeline.control import Declarations, sharded
from catchment.records import IDENTITY_OFFSET, STAMP_HEADER, Kind

OPERATOR = "catchment.measurements.Measurements"
DECLARATIONS = (Kind.MAPPINGS, Kind.SCHEMAS)


def measurements(rows: DataFrame, site: str, declared: Declarations) -> DataFrame:
    """From records and declarations to rows for `measurements`, `sensor-seen` and `deadletter`."""
    is_record = F.col("topic") == Kind.RECORDS.topic
    own = rows.where(~is_record | _is_from(site))
    shards = sharded(own, data=[Kind.RECORDS])
    results = operators.apply(OPERATOR, shards, site, declared.to_java(rows.sparkSession))
    return results.select("topic", "key", "value", "headers")


def _is_from(site: str) -> Column:
    """Whether the identity in the stamp begins with the site; the operator looks at all of it."""
    beginning = F.lit(f"{site}/".encode())
    stamps = F.filter("headers", lambda header: header["key"] == STAMP_HEADER)
    return F.coalesce(
        F.exists(
            stamps,
            lambda stamp: F.substring(stamp["value"], IDENTITY_OFFSET + 1, len(site) + 1) == beginning,
        ),
        F.lit(False),
    )
