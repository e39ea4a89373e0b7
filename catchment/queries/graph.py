"""A query that was checked: what the compiler builds frames of, and what `explain` tells.

Expressions are Spark SQL in which every name and type is known to be right.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from catchment.queries.model import AnyBox, QueryDeclaration

Columns = dict[str, str]
DEFAULT_PARALLELISM = 1


@dataclass(frozen=True)
class Stream:
    """What flows on an arrow."""

    name: str
    giver: str
    columns: Columns
    time: str | None
    # Whether rows can be withdrawn or replaced later, so that whoever reads it has to expect it.
    updating: bool


@dataclass(frozen=True)
class StoredTable:
    """A table that streams are joined with."""

    name: str
    columns: Columns
    key: str


@dataclass(frozen=True)
class AggregateValue:
    """One value of an aggregate: `avg(bytes)` is the function `avg` over the argument `bytes`."""

    name: str
    function: str
    argument: str | None
    argument_type: str | None
    type: str


@dataclass(frozen=True)
class OrderBy:
    """One column of an order."""

    column: str
    descending: bool


@dataclass(frozen=True)
class JoinPlan:
    """How two sides are paired; expressions of `on` are over the side's own columns.

    `select` is over two structs, `left.COLUMN` and `right.COLUMN`.
    """

    left: str
    right: str
    table: bool
    on: tuple[tuple[str, str], ...]
    select: dict[str, str]
    left_time: str | None
    right_time: str | None


@dataclass(frozen=True)
class Graph:
    """A checked query. Dictionaries are by the name of the box, input or stream that they are about."""

    query: QueryDeclaration
    streams: dict[str, Stream] = field(default_factory=dict)
    tables: dict[str, StoredTable] = field(default_factory=dict)
    # The columns that records have to bring; a stream's columns have those that Catchment adds, besides.
    declared: dict[str, Columns] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)
    selects: dict[str, dict[str, str]] = field(default_factory=dict)
    aggregates: dict[str, tuple[AggregateValue, ...]] = field(default_factory=dict)
    orders: dict[str, tuple[OrderBy, ...]] = field(default_factory=dict)
    joins: dict[str, JoinPlan] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.query.name

    def boxes(self) -> Iterator[tuple[str, AnyBox]]:
        """The boxes, each after those that it reads."""
        return self.query.in_order()

    def source(self, box: str) -> Stream:
        """The (first) stream that a box reads."""
        return self.streams[self.query.boxes[box].sources[0]]

    @property
    def tasks(self) -> int:
        """Tasks of each stage: Spark has one number for all shuffles of a query."""
        return self.query.parallelism or DEFAULT_PARALLELISM

    @property
    def stateful(self) -> tuple[str, ...]:
        """The boxes that keep state."""
        return tuple(name for name, box in self.boxes() if box.stateful)
