"""The readings of one sensor, few enough to draw: least, greatest and mean of each stretch of time."""

from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel, Field

from catchment.config.lake import AnalysisSettings
from catchment.errors import NotFound
from catchment.lake.export import IN_TIME, span_of
from catchment.lake.layout import KIND_TABLES, TIME, Type
from catchment.lake.sql import ask, quoted
from catchment.lake.tables import Lake, columns_of

_NUMERIC = {Type.LONG, Type.DOUBLE}
# Columns that every measurement has, and nobody draws.
_OURS = {"arrived_ms", "delay_ms", "epoch", "sequence", "origin_us", "timestamp"}
_MS = timedelta(milliseconds=1)
_START = datetime(1970, 1, 1, tzinfo=UTC)

# How many readings there are, and the times of the first and the last.
Extent = tuple[int, int, int]


class ReadingPoint(BaseModel):
    """A reading, or all readings of a stretch of time."""

    at_ms: int = Field(description="When it was measured; of a stretch, its beginning.")
    min: float
    max: float
    mean: float
    count: int


class Readings(BaseModel):
    """What there is to draw of a sensor."""

    sensor: str
    field: str | None = Field(description="Which of its values; null if the sensor has sent none.")
    fields: list[str] = Field(description="All values of the sensor that are numbers.")
    since_ms: int | None
    until_ms: int | None
    bucket_ms: int = Field(
        description="How long a stretch is; 0 when the points are the readings themselves."
    )
    count: int = Field(description="How many readings there are.")
    points: list[ReadingPoint]


def readings_of(
    lake: Lake,
    limits: AnalysisSettings,
    sensor: str,
    field: str | None,
    since: datetime | None,
    until: datetime | None,
    most_points: int,
) -> Readings:
    """The readings of a sensor (`site/id`) from `since` to before `until`, in at most so many points."""
    span = span_of(since, until)
    found = _tables_with(lake, limits, sensor, span)
    fields = {name: table for table in found for name in _fields(lake, table)}
    if field is not None and field not in fields:
        raise NotFound(f"{sensor} has sent no {field}", f"It has: {', '.join(fields) or 'nothing then'}.")
    chosen = field or next(iter(fields), None)
    if chosen is None:
        return _nothing_of(sensor)
    count, first_ms, last_ms = found[fields[chosen]]
    start_ms = _ms(since) if since else first_ms
    end_ms = _ms(until) if until else last_ms + 1
    bucket_ms = 0 if count <= most_points else -(-(end_ms - start_ms) // most_points)
    points = _points(lake, limits, fields[chosen], chosen, (sensor, *span), start_ms, bucket_ms)
    return Readings(
        sensor=sensor,
        field=chosen,
        fields=list(fields),
        since_ms=start_ms,
        until_ms=end_ms,
        bucket_ms=bucket_ms,
        count=count,
        points=points,
    )


def _nothing_of(sensor: str) -> Readings:
    return Readings(
        sensor=sensor, field=None, fields=[], since_ms=None, until_ms=None, bucket_ms=0, count=0, points=[]
    )


def _tables_with(
    lake: Lake, limits: AnalysisSettings, sensor: str, span: tuple[Any, ...]
) -> dict[str, Extent]:
    """The tables that have readings of a sensor."""
    extents = {
        table: _extent(lake, limits, table, sensor, span)
        for table in lake.names()
        if table not in KIND_TABLES
    }
    return {table: extent for table, extent in extents.items() if extent[0]}


def _extent(lake: Lake, limits: AnalysisSettings, table: str, sensor: str, span: tuple[Any, ...]) -> Extent:
    """How many readings of a sensor a table has, and the times of the first and the last."""
    question = (
        f"SELECT count(*), coalesce(epoch_ms(min({TIME})), 0), coalesce(epoch_ms(max({TIME})), 0) "  # noqa: S608
        f"FROM {quoted(table)} WHERE sensor = ? AND {IN_TIME}"
    )
    ((count, first_ms, last_ms),) = _rows(lake, limits, question, sensor, *span)
    return count, first_ms, last_ms


def _points(
    lake: Lake,
    limits: AnalysisSettings,
    table: str,
    field: str,
    values: tuple[Any, ...],
    start_ms: int,
    bucket_ms: int,
) -> list[ReadingPoint]:
    value, at_ms = f"CAST({quoted(field)} AS DOUBLE)", f"epoch_ms({TIME})"
    source = f"FROM {quoted(table)} WHERE sensor = ? AND {IN_TIME} AND {quoted(field)} IS NOT NULL"
    if bucket_ms:
        stretch = f"CAST({start_ms} + (({at_ms} - {start_ms}) // {bucket_ms}) * {bucket_ms} AS BIGINT)"
        measures = f"min({value}), max({value}), avg({value}), count(*)"
        question = f"SELECT {stretch} AS stretch, {measures} {source} GROUP BY stretch ORDER BY stretch"
    else:
        question = f"SELECT {at_ms}, {value}, {value}, {value}, 1 {source} ORDER BY {TIME}"
    rows = _rows(lake, limits, question, *values)
    return [ReadingPoint(at_ms=row[0], min=row[1], max=row[2], mean=row[3], count=row[4]) for row in rows]


def _rows(lake: Lake, limits: AnalysisSettings, question: str, *values: Any) -> list[tuple[Any, ...]]:
    with ask(lake, question, limits, *values) as reader:
        table = reader.read_all()
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _fields(lake: Lake, name: str) -> list[str]:
    table = lake.find(name)
    columns = columns_of(table) if table else {}
    return [column for column, kind in columns.items() if kind in _NUMERIC and column not in _OURS]


def _ms(time: datetime) -> int:
    """A time without a zone is UTC."""
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - _START) // _MS
