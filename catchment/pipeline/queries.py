"""The queries that a node runs."""

from catchment.config import Config
from catchment.pipeline import lake, result_tables
from catchment.pipeline.ledger import ledger
from catchment.pipeline.measurements import DECLARATIONS, measurements
from catchment.pipeline.query import Query
from catchment.pipeline.store import store_queries
from catchment.pipeline.thresholds import NAME, thresholds, told_since_checkpoint
from catchment.pipeline.twin_split import FED_KINDS, fed, fed_since, twin_split
from catchment.pipeline.twins import applied
from catchment.records import Kind

REAL_TIME = (
    Query(
        name="ledger",
        reads=(Kind.RECORDS,),
        writes=(Kind.LEDGER, Kind.DEADLETTER),
        newest_of=Kind.LEDGER,
        build=lambda records, *_: ledger(records),
    ),
    Query(
        name="measurements",
        reads=(Kind.RECORDS,),
        writes=(Kind.MEASUREMENTS, Kind.SEEN_SENSORS, Kind.DEADLETTER),
        build=lambda rows, config, declared: measurements(rows, config.site, declared),
        declarations=DECLARATIONS,
        rests_until=(Kind.MAPPINGS,),
    ),
    Query(
        name=NAME,
        reads=(Kind.MEASUREMENTS,),
        declarations=(Kind.RULES, Kind.SENSOR_TYPES, Kind.SCHEMAS),
        declarations_by_key=(Kind.SENSORS,),
        writes=(Kind.EVENTS, Kind.DEADLETTER),
        rests_until=(Kind.RULES,),
        build=lambda rows, config, declared: thresholds(rows, declared, told_since_checkpoint(config)),
    ),
)

TWINS = (
    Query(
        name="twin-split",
        reads=(Kind.TWIN_MESSAGES,),
        writes=(Kind.TWIN_CHANGES, Kind.TWIN_OUTCOMES, Kind.DEADLETTER),
        build=lambda rows, config, _: twin_split(rows, config.site),
        rests_until=(Kind.TWIN_TYPES, Kind.TWIN_MESSAGES),
    ),
    Query(
        name="twins",
        reads=(Kind.TWIN_CHANGES,),
        declarations=(Kind.TWIN_TYPES,),
        writes=(Kind.TWINS, Kind.TWIN_HISTORY, Kind.TWIN_OUTCOMES, Kind.EVENTS, Kind.DEADLETTER),
        build=lambda rows, config, declared: applied(rows, config.site, config.twins.state_store, declared),
        rests_until=(Kind.TWIN_TYPES, Kind.TWIN_CHANGES),
    ),
)


def _fed(kind: Kind) -> Query:
    return Query(
        name=f"twin-feed-{kind.value}",
        reads=(kind,),
        declarations=(Kind.TWIN_FEEDS, Kind.SCHEMAS),
        declarations_by_key=(Kind.SENSORS,),
        writes=(Kind.TWIN_CHANGES, Kind.TWIN_OUTCOMES, Kind.DEADLETTER),
        build=lambda rows, config, declared: fed(rows, config.site, declared),
        since=lambda declared, config: fed_since(kind, declared, config.site),
        rests_until=(Kind.TWIN_FEEDS,),
    )


FEEDS = tuple(map(_fed, FED_KINDS))


def queries(config: Config) -> tuple[Query, ...]:
    """Those that this node's configuration asks for."""
    twins = (*TWINS, *FEEDS) if config.twins.enabled else ()
    possible = (*REAL_TIME, *twins, *_lake(config), *store_queries(config))
    wanted = config.pipeline.queries
    return tuple(query for query in possible if wanted is None or query.name in wanted)


def _lake(config: Config) -> tuple[Query, ...]:
    if not config.lake.enabled:
        return ()
    writes = (Kind.HOPS, Kind.DEADLETTER)
    return (
        Query(name=lake.NAME, reads=tuple(config.lake.topics), writes=writes, launch=lake.start),
        Query(
            name=result_tables.NAME,
            reads=(Kind.RESULTS,),
            writes=(),
            launch=result_tables.start,
            rests_until=(Kind.QUERIES,),
            since=result_tables.since,
        ),
    )
