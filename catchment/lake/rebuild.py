"""Finding out from a table itself how far the lake is: for `Seen` if it knows nothing, and to recount."""

from collections.abc import Iterator
from typing import Any

import duckdb
from deltalake import DeltaTable

from catchment.lake.layout import Layout
from catchment.lake.seen import Seen, SourceCount
from catchment.lake.tables import Lake
from catchment.records import Source


def note_table(lake: Lake, layout: Layout, seen: Seen) -> None:
    """Notes of every track in a table how far it has come."""
    table = lake.find(layout.table)
    tracks = dict(_tracks(table, layout)) if table else {}
    counts = count_sources(table) if table and layout.counted else {}
    seen.counts.update(counts)
    seen.note(layout.table, tracks, counts)


def count_sources(table: DeltaTable) -> dict[str, SourceCount]:
    """Which numbers of every source are in the table of records, found in the rows themselves."""
    counts: dict[str, SourceCount] = {}
    for site, gateway, epoch, stream, first, last, first_us, last_us in _ranges(table):
        source = f"{site}/{gateway}/{epoch}/{stream}"
        counts.setdefault(source, SourceCount()).add([(first, last)], first_us, last_us)
    return counts


def repeated_rows(table: DeltaTable) -> dict[Source, int]:
    """Of every source how many rows in the table of records have a number that another has too."""
    query = """
        SELECT site, gateway, epoch, stream, count(*) - count(DISTINCT sequence) FROM rows
        GROUP BY ALL HAVING count(*) > count(DISTINCT sequence)
    """
    return {Source(*where): repeated for *where, repeated in _ask(table, query)}


def _tracks(table: DeltaTable, layout: Layout) -> Iterator[tuple[str, int]]:
    identity = ", ".join(f'"{name}"' for name in layout.identity)
    query = f'SELECT {identity}, max("{layout.number}") FROM rows GROUP BY ALL'  # noqa: S608 - names of ours
    for *track, highest in _ask(table, query):
        yield "/".join(map(str, track)), highest


def _ranges(table: DeltaTable) -> list[tuple[Any, ...]]:
    # Numbers that follow each other have the same distance to their place in the order.
    return _ask(
        table,
        """
        WITH placed AS (
            SELECT site, gateway, epoch, stream, sequence, origin_us,
                sequence - row_number() OVER (
                    PARTITION BY site, gateway, epoch, stream ORDER BY sequence
                ) AS distance
            FROM (
                SELECT site, gateway, epoch, stream, sequence, min(origin_us) AS origin_us FROM rows
                GROUP BY ALL
            )
        )
        SELECT site, gateway, epoch, stream, min(sequence), max(sequence), min(origin_us), max(origin_us)
        FROM placed GROUP BY site, gateway, epoch, stream, distance
        """,
    )


def _ask(table: DeltaTable, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.register("rows", table.to_pyarrow_dataset())
        return connection.execute(query).fetchall()
