"""An expression as a question to one object: what the index does for many, for those that just changed."""

from collections.abc import Callable, Mapping
from typing import Any

from catchment.twins.search.expression import (
    And,
    Compare,
    Exists,
    Expression,
    Field,
    In,
    Like,
    Not,
    Operator,
    Or,
    Scalar,
)

Predicate = Callable[[Mapping[str, Any]], bool]
_Get = Callable[[Mapping[str, Any]], Scalar | None]


def predicate_of(expression: Expression) -> Predicate:
    """Whether an object, as it stands on its topic, is meant."""
    match expression:
        case Compare(field, operator, value):
            get, compare = _getter(field), _comparison(operator, value)
            return lambda twin: (found := get(twin)) is not None and compare(found)
        case In(field, values):
            get, wanted = _getter(field), {(kind_of(value), value) for value in values}
            return lambda twin: (found := get(twin)) is not None and (kind_of(found), found) in wanted
        case Like(field, pattern):
            get = _getter(field)
            return lambda twin: isinstance(found := get(twin), str) and matches(found, pattern)
        case Exists(field):
            get = _getter(field)
            return lambda twin: get(twin) is not None
        case Not(inner):
            holds = predicate_of(inner)
            return lambda twin: not holds(twin)
        case And(parts):
            all_of = [predicate_of(part) for part in parts]
            return lambda twin: all(part(twin) for part in all_of)
        case Or(parts):
            any_of = [predicate_of(part) for part in parts]
            return lambda twin: any(part(twin) for part in any_of)


def kind_of(value: Scalar) -> int:
    """Numbers, texts, truth: in this order where they are sorted together."""
    if isinstance(value, bool):
        return 2
    return 1 if isinstance(value, str) else 0


def matches(text: str, pattern: str) -> bool:
    """Whether a text has a form: `*` stands for any characters, `?` for one, all else for itself.

    Not by a regular expression: what callers say must not make the work grow without bound.
    """
    at, place, star, resume = 0, 0, -1, 0
    while at < len(text):
        if place < len(pattern) and pattern[place] == "*":
            star, resume, place = place, at, place + 1
        elif place < len(pattern) and pattern[place] in ("?", text[at]):
            at, place = at + 1, place + 1
        elif star >= 0:
            # The last star takes one character more.
            resume += 1
            at, place = resume, star + 1
        else:
            return False
    return not pattern[place:].strip("*")


def field_of(twin: Mapping[str, Any], field: Field) -> Scalar | None:
    """What an object has there."""
    return _getter(field)(twin)


def _getter(field: Field) -> _Get:
    name = field.name
    if field.is_member and name == "deleted":
        return lambda twin: twin.get("deleted_ms") is not None
    if field.is_member:
        return lambda twin: twin[name]
    return lambda twin: twin["values"].get(name)


def _comparison(operator: Operator, value: Any) -> Callable[[Any], bool]:
    kind = kind_of(value)
    match operator:
        case Operator.EQUAL:
            return lambda found: kind_of(found) == kind and bool(found == value)
        case Operator.DIFFERENT:
            return lambda found: kind_of(found) != kind or bool(found != value)
        case Operator.LESS:
            return lambda found: kind_of(found) == kind and bool(found < value)
        case Operator.AT_MOST:
            return lambda found: kind_of(found) == kind and bool(found <= value)
        case Operator.MORE:
            return lambda found: kind_of(found) == kind and bool(found > value)
        case Operator.AT_LEAST:
            return lambda found: kind_of(found) == kind and bool(found >= value)
