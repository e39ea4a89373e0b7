"""The first half of the twins' way: messages about many objects become one change for each.

`twin_split` splits what the API writes. `fed` makes changes of records and measurements that feeds name; each
kind has a query of its own, which rests as long as no feed asks for it: a site may have many records, and no
twin. What cannot be split goes to the dead letters, and its sender is told. Each node splits what is of its
own site.
"""

from pydantic import ValidationError
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.pipeline import operators
from catchment.pipeline.control import HEADERS_TYPE, Declaration, Declarations, is_of, sharded
from catchment.records import Kind
from catchment.twins.model import FromStreams, TwinFeed

SPLIT = "catchment.twins.Split"
FED = "catchment.twins.Fed"
FED_KINDS = (Kind.RECORDS, Kind.MEASUREMENTS)


def twin_split(rows: DataFrame, site: str) -> DataFrame:
    """From messages of the API to rows for `twin-changes`, `twin-outcomes` and `deadletter`."""
    headers = F.coalesce("headers", F.array().cast(HEADERS_TYPE)).alias("headers")
    messages = rows.where(is_of(site)).select("topic", "key", "value", headers)
    return operators.apply(SPLIT, messages, site).select("topic", "key", "value", "headers")


def fed(rows: DataFrame, site: str, declared: Declarations) -> DataFrame:
    """The same from records or measurements, and declarations."""
    is_data = F.col("topic").isin([kind.topic for kind in FED_KINDS])
    in_shards = sharded(rows.where(~is_data | is_of(site)), data=FED_KINDS, by_key=[Kind.SENSORS])
    results = operators.apply(FED, in_shards, site, declared.to_java(rows.sparkSession))
    return results.select("topic", "key", "value", "headers")


def fed_since(kind: Kind, declared: Declarations, site: str) -> int | None:
    """When the first feed was declared that asks for a kind of data, in ms; None if there is none."""
    feeds = (_feed(each) for each in declared.newest if each.kind is Kind.TWIN_FEEDS)
    asking = [
        feed.updated_ms
        for feed in feeds
        if feed and feed.site == site and isinstance(feed.source, FromStreams) == (kind is Kind.RECORDS)
    ]
    return min(asking, default=None)


def _feed(declaration: Declaration) -> TwinFeed | None:
    """What cannot be read names nothing, here as in the operator."""
    try:
        return TwinFeed.model_validate_json(declaration.value)
    except ValidationError:
        return None
