"""Queries in Python: the same declarations as in YAML, made step by step.

query = Query("busiest-host")
packets = query.records("packets", "packets/*", {"time": "timestamp", "target": "string"}, time="time")
counts = packets.aggregate("counts", by=["target"], window={"tumbling": "10s"}, values={"n": "count(*)"})
counts.top("busiest", by=["window_start"], order_by="n desc", limit=1).output("busiest")
query.check()
"""

from dataclasses import dataclass
from typing import Any, Self

from catchment.queries.checker import check
from catchment.queries.graph import Graph
from catchment.queries.known import Known
from catchment.queries.loading import to_yaml, validate
from catchment.queries.model import QueryDeclaration

Values = dict[str, str]


class Query:
    """A query in the making. Options that a box, input or output has in YAML are keyword arguments here."""

    def __init__(self, name: str, **options: Any) -> None:
        self._declared: dict[str, Any] = {"name": name, **options}

    def records(self, name: str, streams: str, schema: Values | None = None, **options: Any) -> "Stream":
        """An input of records, by a pattern of streams."""
        columns = {"schema": schema} if schema else {}
        return self.input(name, records=streams, **columns, **options)

    def measurements(self, name: str, subject: str, **options: Any) -> "Stream":
        """An input of measurements, by their Avro subject."""
        return self.input(name, measurements=subject, **options)

    def results(self, name: str, output: str, **options: Any) -> "Stream":
        """An input that is the output of another query, `QUERY/OUTPUT`."""
        return self.input(name, results=output, **options)

    def input(self, name: str, **options: Any) -> "Stream":
        """An input of any kind."""
        return self._stream("inputs", name, options)

    def table(self, name: str, **options: Any) -> "Stream":
        """Stored data to join streams with."""
        return self._stream("tables", name, options)

    def box(self, name: str, **options: Any) -> "Stream":
        """A box of any kind."""
        return self._stream("boxes", name, options)

    def output(self, name: str, stream: "Stream", **options: Any) -> Self:
        """A stream whose rows leave the query."""
        self._stream("outputs", name, {"from": stream.name, **options})
        return self

    def declaration(self) -> QueryDeclaration:
        """The declaration, or an InvalidQuery that says what is wrong in its form."""
        return validate(self._declared)

    def check(self, known: Known | None = None) -> Graph:
        """The checked graph, or an InvalidQuery with a line for each problem."""
        return check(self.declaration(), known)

    def to_yaml(self) -> str:
        """The same as a file."""
        return to_yaml(self.declaration())

    def _stream(self, part: str, name: str, options: dict[str, Any]) -> "Stream":
        self._declared.setdefault(part, {})[name] = options
        return Stream(self, name)


@dataclass(frozen=True)
class Stream:
    """A stream, and the boxes that can read it."""

    query: Query
    name: str

    def filter(self, name: str, where: str, **options: Any) -> "Stream":
        return self.query.box(name, filter=self.name, where=where, **options)

    def map(self, name: str, select: Values | None = None, **options: Any) -> "Stream":
        selected = {"select": select} if select else {}
        return self.query.box(name, map=self.name, **selected, **options)

    def split(self, name: str, into: Values, **options: Any) -> "Stream":
        """Its parts are had by `part`."""
        return self.query.box(name, split=self.name, into=into, **options)

    def part(self, name: str) -> "Stream":
        """A part of a split, or the `late` rows of an aggregate."""
        return Stream(self.query, f"{self.name}.{name}")

    def union(self, name: str, *others: "Stream", **options: Any) -> "Stream":
        return self.query.box(name, union=[self.name, *(other.name for other in others)], **options)

    def aggregate(self, name: str, values: Values, **options: Any) -> "Stream":
        return self.query.box(name, aggregate=self.name, values=values, **options)

    def top(self, name: str, order_by: str, limit: int, **options: Any) -> "Stream":
        return self.query.box(name, top=self.name, order_by=order_by, limit=limit, **options)

    def join(self, name: str, other: "Stream", on: str, **options: Any) -> "Stream":
        return self.query.box(name, join=[self.name, other.name], on=on, **options)

    def output(self, name: str, **options: Any) -> Query:
        """Lets its rows leave the query."""
        return self.query.output(name, self, **options)
