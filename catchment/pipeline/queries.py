"""The queries that a node runs."""

from catchment.config import Config
from catchment.pipeline import lake
from catchment.pipeline.ledger import ledger
from catchment.pipeline.measurements import DECLARATIONS, measurements
from catchment.pipeline.query import Query
from catchment.pipeline.store import store_queries
from catchment.pipeline.thresholds import NAME, thresholds, told_since_checkpoint
from catchment.records import Kind

REAL_TIME = (
    Query(
        name="ledger",
        reads=(Kind.RECORDS,),
        writes=(Kind.LEDGER, Kind.DEADLETTER),
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


def queries(config: Config) -> tuple[Query, ...]:
    """Those that this node's configuration asks for."""
    possible = (*REAL_TIME, *_lake(config), *store_queries(config))
    wanted = config.pipeline.queries
    return tuple(query for query in possible if wanted is None or query.name in wanted)


def _lake(config: Config) -> tuple[Query, ...]:
    if not config.lake.enabled:
        return ()
    writes = (Kind.HOPS, Kind.DEADLETTER)
    return (Query(name=lake.NAME, reads=tuple(config.lake.topics), writes=writes, launch=lake.start),)
