"""An index of the objects of one partition: a table in SQLite's memory with a column for every value.

Every question is a scan without Python in it: SQLite lets go of the interpreter while it works.
"""

import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from typing import Any

from catchment.errors import InvalidRequest
from catchment.twins.search.expression import MEMBERS, Field
from catchment.twins.search.question import Place, Question
from catchment.twins.search.sql import Sql, condition_of, restored, stored

# SQLite takes 2,000 columns.
MOST_VALUES = 1_500
_FIXED = ("kind", *MEMBERS)
_EVERYTHING: Sql = ("1", [])

Twin = Mapping[str, Any]


class Readable:
    """What somebody may see: objects of these types (`SITE/TYPE`), and what they made themselves."""

    def __init__(self, kinds: Set[str], owner: str) -> None:
        self.kinds = kinds
        self.owner = owner


class Index:
    """Finds and sorts the objects of one partition."""

    def __init__(self) -> None:
        self._columns: dict[str, str] = {}
        self._kinds: set[str] = set()
        self._lock = threading.Lock()
        self._table = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._table.execute("PRAGMA journal_mode = OFF")
        names = ", ".join(_FIXED)
        self._table.execute(f"CREATE TABLE twin ({names}, PRIMARY KEY (site, id)) WITHOUT ROWID")

    def __del__(self) -> None:
        # Not before the last question is answered: a partition may be let go of meanwhile.
        self._table.close()

    def put(self, twins: Iterable[Twin], gone: Iterable[tuple[str, str]] = ()) -> None:
        """Takes over what is new of some objects, and lets go of others."""
        rows: dict[tuple[str, ...], list[list[Any]]] = defaultdict(list)
        for twin in twins:
            rows[tuple(twin["values"])].append(_row(twin))
        with self._lock:
            self._table.execute("BEGIN")
            for names, those in rows.items():
                columns = [self._column(name) for name in names]
                known = [place for place, column in enumerate(columns) if column]
                self._insert([columns[place] or "" for place in known], known, those)
            self._table.executemany("DELETE FROM twin WHERE site = ? AND id = ?", gone)
            self._table.execute("COMMIT")

    def ask(self, question: Question, readable: Readable) -> list[Place]:
        """The places of those that are meant and may be seen, in their order."""
        with self._lock:
            sort = self._column_of(question.sort) if question.sort else None
            conditions = [
                condition_of(question.where, self._column_of) if question.where else _EVERYTHING,
                self._seen(readable),
                _behind(question, sort),
            ]
            text = " AND ".join(condition for condition, _ in conditions)
            values = [value for _, those in conditions for value in those]
            order = f"{sort} IS NULL, {sort} {'DESC' if question.descending else 'ASC'}, " if sort else ""
            # The names of columns are ours, and whatever a caller says is a parameter.
            asked = (
                f"SELECT {sort or 'NULL'}, site, id FROM twin WHERE {text} ORDER BY {order}site, id LIMIT ?"  # noqa: S608
            )
            limit = -1 if question.limit is None else question.limit
            rows = self._table.execute(asked, [*values, limit]).fetchall()
        return [(restored(value), site, identifier) for value, site, identifier in rows]

    def _insert(self, columns: list[str], known: list[int], rows: list[list[Any]]) -> None:
        names = (*_FIXED, *columns)
        if len(names) != len(rows[0]):
            rows = [row[: len(_FIXED)] + [row[len(_FIXED) + place] for place in known] for row in rows]
        self._kinds.update({row[0] for row in rows})
        marks = ", ".join("?" * len(names))
        insert = f"INSERT OR REPLACE INTO twin ({', '.join(names)}) VALUES ({marks})"  # noqa: S608
        self._table.executemany(insert, rows)

    def _column(self, name: str) -> str | None:
        """The column of a value, made if there is room for one more."""
        column = self._columns.get(name)
        if column is None and len(self._columns) < MOST_VALUES:
            column = self._columns[name] = f"v{len(self._columns)}"
            self._table.execute(f"ALTER TABLE twin ADD COLUMN {column}")
        return column

    def _column_of(self, field: Field) -> str | None:
        if field.is_member:
            return field.name
        column = self._columns.get(field.name)
        if column is None and len(self._columns) >= MOST_VALUES:
            raise InvalidRequest(
                f"The value {field.name!r} is not in the index, which has room for {MOST_VALUES:,} names",
                "Ask for objects by other values, or give values fewer different names.",
            )
        return column

    def _seen(self, readable: Readable) -> Sql:
        if self._kinds <= readable.kinds:
            return _EVERYTHING
        kinds = sorted(self._kinds & readable.kinds)
        return f"(kind IN ({', '.join('?' * len(kinds))}) OR owner = ?)", [*kinds, readable.owner]


def _row(twin: Twin) -> list[Any]:
    site, kind = twin["site"], twin["type"]
    return [
        f"{site}/{kind}",
        site,
        twin["id"],
        kind,
        twin["version"],
        twin["owner"],
        twin["created_ms"],
        twin["updated_ms"],
        stored(twin.get("deleted_ms") is not None),
        *map(stored, twin["values"].values()),
    ]


def _behind(question: Question, sort: str | None) -> Sql:
    """What comes after the place where the last page ended."""
    if question.after is None:
        return _EVERYTHING
    value, site, identifier = question.after
    later, names = "(site, id) > (?, ?)", [site, identifier]
    if question.sort is None or (sort is None and value is None):
        return later, names
    if sort is None:
        return _EVERYTHING
    if value is None:
        return f"({sort} IS NULL AND {later})", names
    beyond = "<" if question.descending else ">"
    kept = stored(value)
    return f"({sort} IS NULL OR {sort} {beyond} ? OR ({sort} = ? AND {later}))", [kept, kept, *names]
