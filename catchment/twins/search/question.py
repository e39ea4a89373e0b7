"""A question to the index: which objects, in which order, and from where on."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

from pydantic import TypeAdapter

from catchment.twins.search.expression import (
    And,
    Compare,
    Expression,
    Field,
    In,
    Operator,
    Scalar,
    render,
    render_value_name,
)
from catchment.twins.search.matching import kind_of
from catchment.twins.search.parser import parse, parse_field, reread

# What an object is sorted by (null if it does not have it), its site and its id.
Place = tuple[Scalar | None, str, str]
PLACE: TypeAdapter[Place] = TypeAdapter(Place)
Found = tuple[Place, bytes]


@dataclass(frozen=True)
class Question:
    """Objects that `where` is true of, sorted by a field and then by site and id.

    Whatever the direction, those that do not have the field come last.
    """

    where: Expression | None = None
    sort: Field | None = None
    descending: bool = False
    limit: int | None = None
    after: Place | None = None

    @classmethod
    def of(
        cls,
        where: str | None = None,
        sort: str | None = None,
        *,
        site: str | None = None,
        type_: str | None = None,
        ids: Iterable[str] | None = None,
    ) -> Self:
        """The question that a caller asks; a `-` before the field sorts the other way round."""
        parts: list[Expression] = [parse(where)] if where is not None else []
        parts += [_member(name, value) for name, value in (("site", site), ("type", type_)) if value]
        if ids is not None:
            parts.append(In(Field("id", is_member=True), tuple(ids)))
        whole = None if not parts else parts[0] if len(parts) == 1 else And(tuple(parts))
        descending = sort is not None and sort.startswith("-")
        field = parse_field(sort.removeprefix("-")) if sort is not None else None
        return cls(whole, field, descending)

    def part(self, limit: int, after: Place | None = None) -> "Question":
        """The same for so many, from behind a place on."""
        return replace(self, limit=limit, after=after)

    def encode(self) -> dict[str, Any]:
        """What another instance is asked."""
        field = self.sort and (self.sort.name if self.sort.is_member else render_value_name(self.sort.name))
        return {
            "where": render(self.where) if self.where else None,
            "sort": field,
            "descending": self.descending,
            "limit": self.limit,
            "after": self.after,
        }

    @classmethod
    def decode(cls, asked: dict[str, Any]) -> Self:
        return cls(
            reread(asked["where"]) if asked["where"] is not None else None,
            parse_field(asked["sort"]) if asked["sort"] is not None else None,
            asked["descending"],
            asked["limit"],
            PLACE.validate_python(asked["after"]) if asked["after"] is not None else None,
        )


def merged(found: Iterable[list[Found]], question: Question) -> list[Found]:
    """Answers of several partitions as one, in the order of the question."""
    rows = sorted((row for rows in found for row in rows), key=lambda row: row[0][1:])
    if question.sort is not None:
        # Sorting keeps the order of what is equal, so that three sorts are one by three keys.
        rows.sort(key=lambda row: _rank(row[0][0]), reverse=question.descending)
        rows.sort(key=lambda row: row[0][0] is None)
    return rows[: question.limit] if question.limit is not None else rows


def _rank(value: Scalar | None) -> Any:
    return (-1, 0) if value is None else (kind_of(value), value)


def _member(name: str, value: str) -> Compare:
    return Compare(Field(name, is_member=True), Operator.EQUAL, value)
