"""A query as a whole: as it stands in a file, and as it is deployed."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from pydantic import ConfigDict, Field

from catchment.queries.model.boxes import AnyBox
from catchment.queries.model.outputs import Objective, Output
from catchment.queries.model.sources import Input, Table
from catchment.queries.model.terms import Declaration, Identifier, QueryName
from catchment.registry.model import Declared


class Where(StrEnum):
    """At which nodes a query runs."""

    SITE = "site"
    CENTRE = "centre"
    BOTH = "both"


_EXAMPLE: dict[str, Any] = {
    "about": "Packets of each second",
    "inputs": {
        "packets": {
            "records": "packets",
            "format": "json",
            "schema": {"time": "timestamp", "protocol": "string"},
            "time": "time",
        }
    },
    "boxes": {
        "counts": {
            "aggregate": "packets",
            "window": {"tumbling": "1s"},
            "values": {"tuples": "count(*)"},
        }
    },
    "outputs": {"counts": {"from": "counts"}},
}


class QuerySpec(Declaration):
    """A continuous query, all but its name."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    about: str = Field("", max_length=1000)
    where: Where = Where.BOTH
    parallelism: int | None = Field(None, ge=1, le=64, description="Tasks of stateful boxes; else 2.")
    inputs: dict[Identifier, Input] = Field(min_length=1)
    tables: dict[Identifier, Table] = Field(default_factory=dict)
    boxes: dict[Identifier, AnyBox] = Field(default_factory=dict)
    outputs: dict[Identifier, Output] = Field(min_length=1)
    objective: Objective | None = None

    def streams(self) -> dict[str, str]:
        """The names of all streams, each with the input or box that gives it."""
        of_boxes = {stream: name for name, box in self.boxes.items() for stream in box.streams(name)}
        return {**{name: name for name in self.inputs}, **of_boxes}

    def readers(self, stream: str) -> list[str]:
        """The boxes that read a stream."""
        return [name for name, box in self.boxes.items() if stream in box.sources]

    def in_order(self) -> Iterator[tuple[str, AnyBox]]:
        """The boxes, each after those that it reads. Those in a cycle do not come."""
        known = {*self.inputs, *self.tables}
        waiting = dict(self.boxes)
        while ready := [name for name, box in waiting.items() if known.issuperset(box.sources)]:
            for name in ready:
                known.update(waiting[name].streams(name))
                yield name, waiting.pop(name)


class DeployedQuery(Declared, QuerySpec):
    """A query that a node was told to run: a message on `queries`."""

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        populate_by_name=True,
        serialize_by_alias=True,
        json_schema_extra={
            "examples": [
                {
                    "site": "oslo",
                    "id": "packets-per-second",
                    "version": 1,
                    "updated_ms": 1794878824534,
                    **_EXAMPLE,
                }
            ]
        },
    )

    @property
    def declaration(self) -> "QueryDeclaration":
        """The query by its name, as it stood in a file."""
        kept = self.model_dump(include=set(QuerySpec.model_fields))
        return QueryDeclaration.model_validate({**kept, "name": self.id})


class QueryDeclaration(QuerySpec):
    """A continuous query as it stands in a file."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "packets-per-second", **_EXAMPLE}]},
    )

    name: QueryName

    @property
    def spec(self) -> QuerySpec:
        return QuerySpec.model_validate(self.model_dump(exclude={"name"}))
