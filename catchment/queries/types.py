"""The types that columns may have, and which goes where."""

import re
from dataclasses import dataclass

# What no column can be: of a value without a type, and of a difference of times.
NULL = "null"
INTERVAL = "interval"
NUMBERS = ("int", "bigint", "double")
SCALARS = ("boolean", "int", "bigint", "double", "string", "timestamp", "binary")
_SYNONYMS = {"integer": "int", "long": "bigint", "float": "double", "text": "string", "bool": "boolean"}
_ARRAY = re.compile(r"array<\s*([a-z]+)\s*>")


def check_type(name: str) -> str:
    """The name of a type; refuses what is none."""
    array = _ARRAY.fullmatch(name)
    scalar = array[1] if array else name
    if scalar not in SCALARS:
        meant = _SYNONYMS.get(scalar)
        remedy = f"write {meant}" if meant else f"use {', '.join(SCALARS)} or array<…> of these"
        raise ValueError(f"{name!r} is not a type; {remedy}")
    return f"array<{scalar}>" if array else scalar


def common(one: str, other: str) -> str | None:
    """The type that values of both can have; None if there is none."""
    if one == other or other == NULL:
        return one
    if one == NULL:
        return other
    if one in NUMBERS and other in NUMBERS:
        return max(one, other, key=NUMBERS.index)
    return None


def fits(found: str, wanted: str) -> bool:
    """Whether a value of one type can stand where a function or an operator wants another."""
    if found == NULL or wanted in ("any", "T"):
        return True
    if wanted == "scalar":
        return not found.startswith("array")
    if wanted in ("number", "N", "double"):
        return found in NUMBERS
    if wanted in ("int", "bigint"):
        return found in ("int", "bigint")
    return found.startswith("array<") if wanted == "array<T>" else found == wanted


def article_of(type_name: str) -> str:
    """A type in a sentence."""
    article = "an" if type_name[0] in "aeiou" else "a"
    return f"{article} {type_name}"


@dataclass(frozen=True)
class ColumnType:
    """A type of the language, as Spark SQL writes it."""

    name: str

    @property
    def is_array(self) -> bool:
        return self.name.startswith("array<")

    @property
    def element(self) -> "ColumnType":
        return ColumnType(self.name[6:-1])

    @property
    def is_number(self) -> bool:
        return self.name in NUMBERS
