"""What an expression says, as an immutable tree, and how it is written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

Scalar = bool | int | float | str

# What every object has besides its values. A value of the same name is written `values.NAME`.
MEMBERS = ("site", "id", "type", "version", "owner", "created_ms", "updated_ms", "deleted")
KEYWORDS = ("and", "or", "not", "in", "like", "exists", "true", "false")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Operator(StrEnum):
    """How two scalars are compared."""

    EQUAL = "="
    DIFFERENT = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="


@dataclass(frozen=True)
class Field:
    """A value of an object, or one of its members."""

    name: str
    is_member: bool = False


@dataclass(frozen=True)
class Compare:
    """The field is there and compares so. Different kinds differ, and neither is less than the other."""

    field: Field
    operator: Operator
    value: Scalar


@dataclass(frozen=True)
class In:
    """The field is one of these."""

    field: Field
    values: tuple[Scalar, ...]


@dataclass(frozen=True)
class Like:
    """The field is a text of this form: `*` stands for any characters, `?` for one."""

    field: Field
    pattern: str


@dataclass(frozen=True)
class Exists:
    """The field is there."""

    field: Field


@dataclass(frozen=True)
class Not:
    """The opposite."""

    inner: "Expression"


@dataclass(frozen=True)
class And:
    """All of these."""

    parts: "tuple[Expression, ...]"


@dataclass(frozen=True)
class Or:
    """Any of these."""

    parts: "tuple[Expression, ...]"


Expression = Compare | In | Like | Exists | Not | And | Or


def render(expression: Expression) -> str:
    """The expression as text, which reads back as the same."""
    match expression:
        case Compare(field, operator, value):
            return f"{_field(field)} {operator.value} {render_scalar(value)}"
        case In(field, values):
            return f"{_field(field)} in ({', '.join(map(render_scalar, values))})"
        case Like(field, pattern):
            return f"{_field(field)} like {render_scalar(pattern)}"
        case Exists(field):
            return f"{_field(field)} exists"
        case Not(inner):
            return f"not {_inner(inner)}"
        case And(parts):
            return " and ".join(map(_inner, parts))
        case Or(parts):
            return " or ".join(map(_inner, parts))


def render_scalar(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return repr(value)


def fields_of(expression: Expression) -> Iterator[Field]:
    """Every field that it names."""
    match expression:
        case Not(inner):
            yield from fields_of(inner)
        case And(parts) | Or(parts):
            for part in parts:
                yield from fields_of(part)
        case _:
            yield expression.field


def _field(field: Field) -> str:
    return field.name if field.is_member else render_value_name(field.name)


def render_value_name(name: str) -> str:
    """How a value is named: a member or a word of the language would be taken for that."""
    if not _PLAIN_NAME.fullmatch(name):
        return f"values.{render_scalar(name)}"
    return f"values.{name}" if name in MEMBERS or name.lower() in (*KEYWORDS, "values") else name


def _inner(expression: Expression) -> str:
    text = render(expression)
    return f"({text})" if isinstance(expression, And | Or) else text
