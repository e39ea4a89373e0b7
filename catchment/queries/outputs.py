"""Sentences of rows: the columns that they name, and what they are in SQL."""

import re
from collections.abc import Mapping

_REFERENCE = re.compile(r"\{([^{}]*)\}")


def references(say: str) -> list[str]:
    """The columns that a sentence names."""
    return _REFERENCE.findall(say)


def sentence_sql(say: str, columns: Mapping[str, str]) -> str:
    """A sentence of a row as a Spark SQL expression; times are ISO 8601 in UTC."""
    pieces = [
        _value_sql(piece, columns[piece]) if index % 2 else f"'{_escaped(piece)}'"
        for index, piece in enumerate(_REFERENCE.split(say))
    ]
    return f"concat({', '.join(pieces)})"


def _value_sql(column: str, type_name: str) -> str:
    text = f"CAST({column} AS string)"
    if type_name == "timestamp":
        iso = f"date_format({column}, \"yyyy-MM-dd'T'HH:mm:ss.SSS'Z'\")"
        text = f"replace({iso}, '.000Z', 'Z')"
    return f"coalesce({text}, 'null')"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")
