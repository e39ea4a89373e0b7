"""An expression as a condition of SQLite, which sorts numbers before texts before bytes.

Truth is kept as bytes, so that a kind is a range of values: a comparison stays within its kind.
"""

from collections.abc import Callable
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

Sql = tuple[str, list[Any]]
# The column of a field; nothing for a value that no object here has.
ColumnOf = Callable[[Field], str | None]

NOTHING: Sql = ("0", [])
_TRUE, _FALSE = b"\x01", b"\x00"
_INTEGERS = range(-(2**63), 2**63)


def stored(value: Scalar) -> Any:
    """A scalar as it stands in the index."""
    if isinstance(value, bool):
        return _TRUE if value else _FALSE
    return float(value) if isinstance(value, int) and value not in _INTEGERS else value


def restored(value: Any) -> Scalar | None:
    """The scalar that stands in the index."""
    if isinstance(value, bytes):
        return value == _TRUE
    found: Scalar | None = value
    return found


def condition_of(expression: Expression, column_of: ColumnOf) -> Sql:
    """What is true (never null) of the rows that are meant."""
    match expression:
        case Not(inner):
            condition, values = condition_of(inner, column_of)
            return f"NOT {condition}", values
        case And(parts):
            return _joined(" AND ", [condition_of(part, column_of) for part in parts])
        case Or(parts):
            return _joined(" OR ", [condition_of(part, column_of) for part in parts])
        case _:
            column = column_of(expression.field)
            return NOTHING if column is None else _condition(expression, column)


def _condition(expression: Compare | In | Like | Exists, column: str) -> Sql:
    there = f"{column} IS NOT NULL"
    match expression:
        case Compare(_, operator, value):
            condition, values = _comparison(column, operator, value)
            return f"({there} AND {condition})", values
        case In(_, values):
            marks = ", ".join("?" * len(values))
            return f"({there} AND {column} IN ({marks}))", [stored(value) for value in values]
        case Like(_, pattern):
            # Of the characters that have a meaning there, one has none here.
            return f"(typeof({column}) = 'text' AND {column} GLOB ?)", [pattern.replace("[", "[[]")]
        case Exists():
            return f"({there})", []


def _comparison(column: str, operator: Operator, value: Scalar) -> Sql:
    condition, values = f"{column} {operator.value} ?", [stored(value)]
    if operator in (Operator.LESS, Operator.AT_MOST) and isinstance(value, str):
        return f"{condition} AND {column} >= ''", values
    if operator in (Operator.MORE, Operator.AT_LEAST):
        above = "x''" if isinstance(value, str) else "''"
        return f"{condition} AND {column} < {above}", values
    return condition, values


def _joined(by: str, parts: list[Sql]) -> Sql:
    return f"({by.join(text for text, _ in parts)})", [value for _, values in parts for value in values]
