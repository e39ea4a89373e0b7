"""Rows of one table, or of one sensor, from a time to a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from catchment.config.lake import AnalysisSettings
from catchment.errors import InvalidRequest, NotFound
from catchment.lake.formats import Format
from catchment.lake.layout import DAY, KIND_TABLES, TIME, Type
from catchment.lake.sql import ask, quoted
from catchment.lake.tables import Lake, columns_of

_LONG_AGO = datetime(1, 1, 2, tzinfo=UTC)
_FAR_AHEAD = datetime(9999, 12, 30, tzinfo=UTC)


@contextmanager
def rows_of(
    lake: Lake,
    limits: AnalysisSettings,
    table: str,
    since: datetime | None = None,
    until: datetime | None = None,
    where: str | None = None,
    form: Format = Format.PARQUET,
) -> Iterator[pa.RecordBatchReader]:
    """Rows of a table from `since` to before `until`, of which `where` (SQL) holds."""
    found = lake.find(table) if table in lake.names() else None
    if found is None:
        tables = ", ".join(lake.names()) or "none yet"
        raise NotFound(f"The lake has no table {table}", f"It has these: {tables}.")
    condition = f" AND ({where}\n)" if where else ""
    chosen = _as_text(columns_of(found)) if form is Format.CSV else "*"
    question = f"SELECT {chosen} FROM {quoted(table)} WHERE {IN_TIME}{condition} ORDER BY {TIME}"  # noqa: S608
    with ask(lake, question, limits, *span_of(since, until)) as reader:
        yield reader


@contextmanager
def measurements_of(
    lake: Lake,
    limits: AnalysisSettings,
    sensor: str,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Iterator[pa.RecordBatchReader]:
    """All measurements of a sensor (`site/id`), of whatever types it has sent, in the order of their time."""
    tables = [name for name in lake.names() if name not in KIND_TABLES]
    if not tables:
        raise NotFound("The lake has no measurements yet", "See `catchment lake list`.")
    span = span_of(since, until)
    parts = [f"SELECT * FROM {quoted(name)} WHERE sensor = ? AND {IN_TIME}" for name in tables]  # noqa: S608
    question = f"{' UNION ALL BY NAME '.join(parts)} ORDER BY {TIME}"
    with ask(lake, question, limits, *((sensor, *span) * len(tables))) as reader:
        yield reader


IN_TIME = f"{DAY} BETWEEN ? AND ? AND {TIME} >= ? AND {TIME} < ?"


def span_of(since: datetime | None, until: datetime | None) -> tuple[Any, ...]:
    """The values that `IN_TIME` asks for."""
    first, last = _in_utc(since or _LONG_AGO), _in_utc(until or _FAR_AHEAD)
    if first > last:
        raise InvalidRequest("The time ends before it begins", "Exchange since and until.")
    return first.date(), last.date(), first, last


def _in_utc(time: datetime) -> datetime:
    """A time without a zone is UTC."""
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _as_text(columns: dict[str, Type]) -> str:
    """All columns, of which bytes are written as text: CSV has no bytes."""
    binary = [quoted(name) for name, kind in columns.items() if kind is Type.BINARY]
    replaced = ", ".join(f"CAST({name} AS VARCHAR) AS {name}" for name in binary)
    return f"* REPLACE ({replaced})" if binary else "*"
