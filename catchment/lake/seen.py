"""How far the lake is with every track, and which records of every source it has; on disk, and in memory.

Numbers may stand here that the lake does not have yet, never the other way round: what is not above them is
looked for in the table before it is added. So this is written before a commit, and may be deleted: it is then
made anew from the tables.
"""

import logging
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from catchment.lake.ranges import Range, Ranges

_TABLES = """
CREATE TABLE IF NOT EXISTS tracks (
    table_name TEXT, track TEXT, highest INTEGER, PRIMARY KEY (table_name, track)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counts (
    source TEXT PRIMARY KEY, ranges TEXT, first_us INTEGER, last_us INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS known (table_name TEXT PRIMARY KEY) WITHOUT ROWID;
"""


log = logging.getLogger(__name__)


@dataclass
class SourceCount:
    """The numbers of a source that are in the lake, and its first and last time of origin."""

    numbers: Ranges = field(default_factory=Ranges)
    first_us: int = 2**63 - 1
    last_us: int = 0

    def add(self, ranges: Iterable[Range], first_us: int, last_us: int) -> None:
        for first, last in ranges:
            self.numbers.add(first, last)
        self.first_us = min(self.first_us, first_us)
        self.last_us = max(self.last_us, last_us)


class Seen:
    """What the lake has seen."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._database = _opened(file)
        except sqlite3.DatabaseError as error:
            log.warning("%s cannot be read (%s): it is made anew from the tables", file, error)
            for part in file.parent.glob(f"{file.name}*"):
                part.unlink()
            self._database = _opened(file)
        self._highest: dict[tuple[str, str], int] = {
            (table, track): highest
            for table, track, highest in self._rows("SELECT table_name, track, highest FROM tracks")
        }
        self._known = {table for (table,) in self._rows("SELECT table_name FROM known")}
        self.counts = {
            source: SourceCount(Ranges(orjson.loads(ranges)), first_us, last_us)
            for source, ranges, first_us, last_us in self._rows(
                "SELECT source, ranges, first_us, last_us FROM counts"
            )
        }

    def close(self) -> None:
        self._database.close()

    def knows(self, table: str) -> bool:
        """Whether anything has been noted of a table."""
        return table in self._known

    def highest(self, table: str, track: str) -> int:
        return self._highest.get((table, track), -1)

    def note(self, table: str, tracks: Mapping[str, int], sources: Iterable[str] = ()) -> None:
        """Notes how far tracks have come, and what `counts` says of sources; returns when it is on disk."""
        for track, number in tracks.items():
            self._highest[table, track] = max(number, self.highest(table, track))
        self._known.add(table)
        with self._database:
            self._database.execute("BEGIN")
            self._database.execute("INSERT OR IGNORE INTO known VALUES (?)", (table,))
            self._database.executemany(
                "INSERT OR REPLACE INTO tracks VALUES (?, ?, ?)",
                ((table, track, self._highest[table, track]) for track in tracks),
            )
            self._database.executemany(
                "INSERT OR REPLACE INTO counts VALUES (?, ?, ?, ?)", map(self._count, sources)
            )

    def _count(self, source: str) -> tuple[str, bytes, int, int]:
        counted = self.counts[source]
        return source, orjson.dumps(list(counted.numbers)), counted.first_us, counted.last_us

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        with closing(self._database.cursor()) as cursor:
            return cursor.execute(query).fetchall()


def _opened(file: Path) -> sqlite3.Connection:
    database = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.executescript(_TABLES)
    return database
