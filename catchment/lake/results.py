"""Tables of results: the rows that a continuous query's output has now, each once.

Results are replaced and withdrawn, and some come again after a crash. So they are not appended but merged: of
each row the newest version is in the table, or none if that withdrew it. Merging the same again changes
nothing, which makes it exact whatever dies and however often a batch comes.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from catchment.errors import LakeUnavailable
from catchment.lake.layout import DAY, Column, Layout, Part, Type, fitted
from catchment.lake.tables import Lake, columns_of

ROW_ID = "row_id"
ROW_VERSION = "row_version"
# What was compacted in the meantime is looked at anew.
TRIES = 5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WITHDRAWN = "_withdrawn"
_ARROW = {
    Type.BOOLEAN: pa.bool_(),
    Type.LONG: pa.int64(),
    Type.DOUBLE: pa.float64(),
    Type.STRING: pa.string(),
    Type.BINARY: pa.binary(),
    Type.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}


@dataclass(frozen=True)
class ResultTable:
    """What a table of results is like; every result carries this in a header."""

    table: str
    query: str
    output: str
    columns: Mapping[str, str]
    # The column whose day rows are filed under. If it is steady, a row keeps it when it is replaced.
    time: str | None = None
    steady: bool = False

    @property
    def text(self) -> str:
        return orjson.dumps(asdict(self)).decode()

    @classmethod
    def parse(cls, text: str) -> "ResultTable":
        return cls(**orjson.loads(text))

    def layout(self) -> Layout:
        """Its columns; numbers of versions rise with each change of a row."""
        own = (Column(ROW_ID, Type.STRING, Part.KEY), Column(ROW_VERSION, Type.LONG, Part.HEADER))
        fields = (Column(name, Type(kind), Part.FIELD, name) for name, kind in self.columns.items())
        return Layout(
            table=self.table,
            description=f"Output {self.output} of the query {self.query}",
            columns=(*own, *fields),
            identity=(ROW_ID,),
            number=ROW_VERSION,
            equal=(ROW_ID, ROW_VERSION),
        )


@dataclass(frozen=True)
class Result:
    """The newest version of a row; without content it was withdrawn."""

    row_id: str
    version_us: int
    content: bytes | None


def merge(lake: Lake, kind: ResultTable, results: Sequence[Result]) -> None:
    """Lets a table have the newest of each row. There is one result for each row."""
    layout = kind.layout()
    layout = fitted(layout, columns_of(lake.find(kind.table)))
    table = lake.ensure([layout])
    rows = _rows(kind, layout, results)
    for left in reversed(range(TRIES)):
        before = table.version()
        try:
            _merged(table, layout, rows, _same_row(kind, rows))
            break
        except CommitFailedError as error:
            if not left:
                raise LakeUnavailable(
                    f"Results were not merged into {kind.table}: {error}", "See who else writes to the table."
                ) from None
            table.update_incremental()
    lake.settle(table, kind.table, before)


def _merged(table: DeltaTable, layout: Layout, rows: pa.Table, same_row: str) -> None:
    values = {f'"{name}"': f's."{name}"' for name in (*(each.name for each in layout.columns), DAY)}
    newer = f"s.{ROW_VERSION} >= t.{ROW_VERSION}"
    merger = table.merge(rows, same_row, source_alias="s", target_alias="t")
    merger = merger.when_matched_delete(f"s.{_WITHDRAWN} AND {newer}")
    merger = merger.when_matched_update(values, f"NOT s.{_WITHDRAWN} AND {newer}")
    merger.when_not_matched_insert(values, f"NOT s.{_WITHDRAWN}").execute()


def _same_row(kind: ResultTable, rows: pa.Table) -> str:
    """Only days that rows can be in are read; of one that was withdrawn nobody says which."""
    same = f"t.{ROW_ID} = s.{ROW_ID}"
    if not kind.steady or pc.any(rows[_WITHDRAWN]).as_py():
        return same
    days = ", ".join(sorted({f"'{day}'" for day in rows[DAY].to_pylist()}))
    return f"t.{DAY} IN ({days}) AND {same}"


def _rows(kind: ResultTable, layout: Layout, results: Sequence[Result]) -> pa.Table:
    fields = layout.columns[2:]
    made = [_row(kind, fields, result) for result in results]
    schema = [(each.name, _ARROW[each.type]) for each in layout.columns]
    return pa.Table.from_pylist(made, pa.schema([*schema, (DAY, pa.date32()), (_WITHDRAWN, pa.bool_())]))


def _row(kind: ResultTable, fields: Sequence[Column], result: Result) -> dict[str, Any]:
    row: dict[str, Any] = {ROW_ID: result.row_id, ROW_VERSION: result.version_us, _WITHDRAWN: True}
    if result.content is None:
        return row
    content = orjson.loads(result.content)
    values = {each.name: _value(content.get(each.argument), each.type) for each in fields}
    at = _value(content.get(kind.time), Type.TIMESTAMP) if kind.time else None
    return {**row, **values, _WITHDRAWN: False, DAY: _day(kind, result, at)}


def _day(kind: ResultTable, result: Result, at: datetime | None) -> date:
    if at is None and not kind.steady:
        at = datetime.fromtimestamp(result.version_us // 1_000_000, UTC)
    return (at or _EPOCH).date()


def _value(value: Any, kind: Type) -> Any:
    """A value of JSON as the column holds it."""
    if value is None:
        return None
    if kind is Type.TIMESTAMP:
        return datetime.fromisoformat(value)
    if kind is Type.BINARY:
        return base64.b64decode(value)
    # JSON has no NaN and no infinity: they come as text.
    return float(value) if kind is Type.DOUBLE else value
