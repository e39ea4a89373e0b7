"""The other boxes with state, and all boxes together."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag

from catchment.queries.model.aggregates import Aggregate
from catchment.queries.model.stateless import Box, Filter, Map, Split, Union
from catchment.queries.model.terms import Duration, Expression, Identifier, StreamRef, duration_ms


class Top(Box):
    """The first rows of each group, in an order; adds the column `rank`, from 1."""

    kind = "top"
    stateful = True

    top: StreamRef
    by: list[Identifier] = Field(default_factory=list, description="The columns of a group.")
    order_by: Annotated[str, StringConstraints(min_length=1)] = Field(
        description="Columns with `asc` or `desc`, as in `contacts desc, host`."
    )
    limit: int = Field(ge=1, le=10_000)


class Join(Box):
    """Pairs of rows of two streams near in time, or of a stream and a table as it is when the row comes."""

    kind = "join"
    stateful = True

    join: Annotated[list[StreamRef], Field(min_length=2, max_length=2)]
    on: Expression = Field(description="`left = right`, several with `and`; one name if both have it.")
    within: Duration | None = Field(None, description="How far apart in time two rows may be.")
    kind_of_join: Literal["inner", "left"] = Field("inner", alias="kind")
    select: dict[Identifier, Expression] | None = Field(
        None, description="Its columns, as `STREAM.column`; else all of both."
    )
    time: Identifier | list[Identifier] | None = Field(
        None, description="The columns with the times of both sides; else the streams' times."
    )
    keep: Duration | None = Field(
        None, description="How long rows wait for those that come late, besides `within`; else 1h."
    )

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(self.join)

    @property
    def within_ms(self) -> int:
        return duration_ms(self.within or "0ms") if self.within else 0

    @property
    def keep_ms(self) -> int:
        return duration_ms(self.keep or "1h")


BOX_CLASSES: dict[str, type[Box]] = {
    each.kind: each for each in (Filter, Map, Split, Union, Aggregate, Top, Join)
}


def box_kind(box: Any) -> str | None:
    """The kind of a box by its keys: the one that names what it reads."""
    if isinstance(box, Box):
        return box.kind
    return next((kind for kind in BOX_CLASSES if kind in box), None) if isinstance(box, dict) else None


AnyBox = Annotated[
    Annotated[Filter, Tag("filter")]
    | Annotated[Map, Tag("map")]
    | Annotated[Split, Tag("split")]
    | Annotated[Union, Tag("union")]
    | Annotated[Aggregate, Tag("aggregate")]
    | Annotated[Top, Tag("top")]
    | Annotated[Join, Tag("join")],
    Discriminator(box_kind),
]
