"""Boxes that every row goes through on its own, and what all boxes have."""

from typing import ClassVar

from pydantic import Field

from catchment.queries.model.terms import Declaration, Expression, Identifier, StreamRef


class Box(Declaration):
    """What every box has."""

    kind: ClassVar[str]
    stateful: ClassVar[bool] = False

    @property
    def sources(self) -> tuple[str, ...]:
        """The streams (and tables) that it reads."""
        return (str(getattr(self, self.kind)),)

    def streams(self, name: str) -> tuple[str, ...]:
        """The streams that it gives if this is its name."""
        return (name,)


class Filter(Box):
    """Lets rows pass for which a condition is true."""

    kind = "filter"
    filter: StreamRef
    where: Expression


class Map(Box):
    """Makes other columns of a row's; with `each`, one row for every element of an array."""

    kind = "map"
    map: StreamRef
    select: dict[Identifier, Expression] | None = Field(None, description="Its columns; else those it had.")
    each: dict[Identifier, Expression] | None = Field(
        None, min_length=1, max_length=1, description="A column, and the array that it takes the elements of."
    )


class Split(Box):
    """Sends each row to the first part whose condition is true."""

    kind = "split"
    split: StreamRef
    into: dict[Identifier, Expression] = Field(min_length=1)
    otherwise: Identifier | None = Field(None, description="The part of those for which none is true.")

    @property
    def parts(self) -> tuple[str, ...]:
        return (*self.into, *([self.otherwise] if self.otherwise else []))

    def streams(self, name: str) -> tuple[str, ...]:
        return tuple(f"{name}.{part}" for part in self.parts)


class Union(Box):
    """All rows of several streams with the same columns."""

    kind = "union"
    union: list[StreamRef] = Field(min_length=2)

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(self.union)
