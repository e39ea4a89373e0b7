"""Words that all parts of a declaration use: names, durations, types of columns."""

import re
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, StringConstraints
from pydantic.alias_generators import to_snake

from catchment.queries.types import check_type
from catchment.registry.model import Spec

QUERY_NAME = r"^[a-z0-9][a-z0-9-]{0,62}$"
Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
StreamRef = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}(\.[a-z][a-z0-9_]{0,62})?$")]
QueryName = Annotated[str, StringConstraints(pattern=QUERY_NAME)]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=4000, strip_whitespace=True)]

_DURATION = re.compile(r"([1-9][0-9]{0,8})(ms|s|m|h|d)")
_UNIT_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def duration_ms(text: str) -> int:
    """`10s`, `500ms`, `5m`, `1h` or `2d` in milliseconds."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a duration; write a number and ms, s, m, h or d, as in 10s")
    return int(match[1]) * _UNIT_MS[match[2]]


def _duration(text: str) -> str:
    duration_ms(text)
    return text


Duration = Annotated[str, AfterValidator(_duration)]
TypeName = Annotated[str, AfterValidator(check_type)]
Schema = dict[Identifier, TypeName]


class Declaration(Spec):
    """A part of a query as a person writes it: nothing unknown, nothing changed later."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)

    def declared(self) -> dict[str, Any]:
        """The same as plain values, without what was left out."""
        return self.model_dump(mode="json", exclude_defaults=True)


def field_of(kind: StrEnum) -> str:
    """The field of a model whose key in a file is the name of this kind."""
    return to_snake(kind.value)
