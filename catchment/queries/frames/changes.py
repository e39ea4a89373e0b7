"""Rows in flight: every stream of a query is a collection of rows that changes, and each row a change.

The rows of all streams go through one chain of frames together. Spark's real-time mode reads a topic once
in a query, and unites nothing that has state; so a frame has the columns of all streams side by side, and
each row says on which edge of the graph it is. Before the columns of streams stand those that every row has:

- `_tick_ms`: the time of day, if the row is a tick and nothing else
- `_id`: the identity of the row in its stream
- `_sign`: 1 if the row is there, -1 if it was withdrawn; a row that is replaced is withdrawn first
- `_origin_us`: when the record began its way that caused the change
- `_version`: of two changes of an id, the one with the higher version is the newer one
- `_aside`: a message that leaves the query: a result, a dead letter; nothing else counts then
- `_edge`: who the row is from, or with `>` before it, who takes it next, as a number
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.pipeline.control import HEADERS_TYPE
from catchment.queries.clauses import qualified

META = ("_tick_ms", "_id", "_sign", "_origin_us", "_version", "_aside", "_edge")
CHANGE = ("_id", "_sign", "_origin_us", "_version")
MESSAGE_TYPE = f"struct<topic: string, key: binary, value: binary, headers: {HEADERS_TYPE}>"

Columns = Mapping[str, str]

_numbers: dict[str, int] = {}
_unused = count(1)


def is_aside() -> Column:
    return F.col("_aside").isNotNull()


def edge_number(edge: str) -> int:
    """What stands for an edge in this process: every row is asked at every box which edge it is on."""
    return _numbers.setdefault(edge, next(_unused))


def edges(names: Iterable[str]) -> Column:
    """The edges of these names, as an array."""
    return F.array(*(F.lit(edge_number(name)) for name in names)).cast("array<int>")


def on(edge: str) -> Column:
    """Whether a row is on an edge."""
    return F.col("_edge").eqNullSafe(F.lit(edge_number(edge)))


def physical(type_name: str) -> str:
    """The type as the Java operators have it: times are whole numbers of µs."""
    return type_name.replace("timestamp", "bigint")


def to_java(column: Column, type_name: str) -> Column:
    """A column as the Java operators take it."""
    if type_name == "timestamp":
        return F.unix_micros(column)
    return F.transform(column, F.unix_micros) if type_name == "array<timestamp>" else column


def from_java(column: Column, type_name: str) -> Column:
    """A column as the Java operators give it."""
    if type_name == "timestamp":
        return F.timestamp_micros(column)
    return F.transform(column, F.timestamp_micros) if type_name == "array<timestamp>" else column


def ddl(columns: Columns) -> str:
    """The columns as the Java operators are told them."""
    return ", ".join(f"`{name}` {physical(type_name)}" for name, type_name in columns.items())


def wide(stream: str, column: str) -> str:
    """The column of a stream among those of all."""
    return f"{stream.replace('.', '__')}__{column}"


@dataclass(frozen=True)
class Taken:
    """What a box with state takes of a row: a column of its stream as it is, a constant, or computed."""

    column: Column
    plain: str | None = None
    is_constant: bool = False
    constant: int | None = None


def constant(value: int | None, kind: str) -> Taken:
    """The same value for every row."""
    return Taken(F.lit(value).cast(physical(kind)), is_constant=True, constant=value)


@dataclass(frozen=True)
class Scope:
    """Where the columns of a stream are in the frame, and their types."""

    places: Mapping[str, str]
    types: Columns

    def column(self, name: str) -> Column:
        return F.col(self.places[name])

    def expression(self, sql: str) -> Column:
        """An expression over the stream's columns."""
        return F.expr(qualified(sql, self.places))

    def only(self, columns: Columns) -> "Scope":
        """That of some of the columns."""
        return Scope({column: self.places[column] for column in columns}, columns)

    def java(self, name: str) -> Column:
        return to_java(self.column(name), self.types[name])

    def taken(self, name: str) -> Taken:
        """A column as a box with state takes it."""
        return Taken(self.java(name), name)

    def computed(self, sql: str, kind: str) -> Taken:
        """What an expression gives, as a box with state takes it."""
        return self.taken(sql) if sql in self.types else Taken(to_java(self.expression(sql), kind))


def own_scope(stream: str, columns: Columns) -> Scope:
    """That of a stream which has columns of its own."""
    return Scope({column: wide(stream, column) for column in columns}, dict(columns))


def with_columns(rows: DataFrame, columns: Iterable[Column], replaced: Iterable[str] = ()) -> DataFrame:
    """The frame with more columns; those that are replaced come anew."""
    gone = set(replaced)
    return rows.select(*(name for name in rows.columns if name not in gone), *columns)


def filled(rows: DataFrame, columns: Mapping[str, Column]) -> DataFrame:
    """The frame with these columns, each given for some edges; what is there already stays for all others."""
    known = set(rows.columns)
    made = [
        (column.otherwise(F.col(name)) if name in known else column).alias(name)
        for name, column in columns.items()
    ]
    return with_columns(rows, made, columns)


def moved(rows: DataFrame, edge: str, targets: list[str]) -> DataFrame:
    """Rows of one edge go on to others: one of each for every one of these."""
    here = on(edge)
    if not targets:
        return rows.where(~here)
    if len(targets) == 1:
        went = F.when(here, F.lit(edge_number(targets[0]))).otherwise(F.col("_edge"))
        return with_columns(rows, [went.alias("_edge")], ["_edge"])
    return spread_over(rows, F.when(here, edges(targets)).otherwise(F.array("_edge")))


def spread_over(rows: DataFrame, targets: Column) -> DataFrame:
    """Every row once for each edge in an array."""
    return with_columns(rows, [F.explode(targets).alias("_edge")], ["_edge"])


def settled(changes: DataFrame) -> DataFrame:
    """The rows of a batch that are there in the end: of each id the newest, unless that was withdrawn."""
    newest = F.max_by(F.struct(*changes.columns), F.col("_version"))
    rows = changes.groupBy("_id").agg(newest.alias("row"))
    payload = [column for column in changes.columns if column not in CHANGE]
    return rows.where("row._sign > 0").select(*(F.col(f"row.{column}").alias(column) for column in payload))
