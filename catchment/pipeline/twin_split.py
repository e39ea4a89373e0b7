"""The first half of the twins' way: messages about many objects become one change for each.

Messages are what the API writes, records of streams that a feed names, and measurements that a feed names.
What cannot be split goes to the dead letters, and its sender is told. Each node splits what is of its own
site.
"""

from pydantic import ValidationError
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.pipeline import operators
from catchment.pipeline.control import Declaration, Declarations, sharded
from catchment.records import Kind
from catchment.twins.model import FromStreams, TwinFeed

OPERATOR = "catchment.twins.Split"
DATA = (Kind.TWIN_MESSAGES, Kind.RECORDS, Kind.MEASUREMENTS)


def twin_split(rows: DataFrame, site: str, declared: Declarations) -> DataFrame:
    """From messages and declarations to rows for `twin-changes`, `twin-outcomes` and `deadletter`."""
    is_data = _is_of(DATA)
    # The key of all of them begins with the site.
    is_own = F.substring("key", 1, len(site) + 1) == F.lit(f"{site}/".encode())
    wanted = rows.where(~is_data | (_is_of(fed_kinds(declared, site)) & is_own))
    in_shards = sharded(wanted, data=DATA, by_key=[Kind.SENSORS])
    results = operators.apply(OPERATOR, in_shards, site, declared.to_java(rows.sparkSession))
    return results.select("topic", "key", "value", "headers")


def fed_kinds(declared: Declarations, site: str) -> tuple[Kind, ...]:
    """Which data have to be looked at: of a busy site, not all records if no feed names any."""
    feeds = (_feed(each) for each in declared.newest if each.kind is Kind.TWIN_FEEDS)
    streams = [isinstance(feed.source, FromStreams) for feed in feeds if feed and feed.site == site]
    fed = {Kind.RECORDS: True in streams, Kind.MEASUREMENTS: False in streams, Kind.TWIN_MESSAGES: True}
    return tuple(kind for kind, is_fed in fed.items() if is_fed)


def _feed(declaration: Declaration) -> TwinFeed | None:
    """What cannot be read names nothing, here as in the operator."""
    try:
        return TwinFeed.model_validate_json(declaration.value)
    except ValidationError:
        return None


def _is_of(kinds: tuple[Kind, ...]) -> Column:
    return F.col("topic").isin([kind.topic for kind in kinds])
