"""Counting the lake's rows of records anew, from the table itself."""

from catchment.config import Config
from catchment.lake.hops import hop_row
from catchment.lake.layout import RECORDS
from catchment.lake.rebuild import count_sources, repeated_rows
from catchment.lake.tables import lake_of
from catchment.ledger.model import HopRow
from catchment.records import Source


def recount_lake(config: Config) -> list[HopRow]:
    """What this node's lake has of every source; rows that are there twice count as duplicates."""
    table = lake_of(config).find(RECORDS.table)
    if table is None:
        return []
    repeated = repeated_rows(table)
    return [
        hop_row(config.site, source, count, repeated.get(source, 0))
        for identity, count in count_sources(table).items()
        if (source := Source.from_identity(identity.encode()))
    ]
