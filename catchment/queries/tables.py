"""Small tables beside a query: rows of its inputs and tables, and the rows that its outputs have to be.

`input.NAME.csv` (or `.json`), `table.NAME.csv` and `expected.OUTPUT.csv` stand beside the query's file. The
first line of CSV names columns; an empty cell is null. JSON is a list of objects, or one object a line. Times
are ISO 8601 or ms since 1970.
"""

import base64
import csv
import datetime
import io
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from catchment.errors import InvalidQuery
from catchment.queries.graph import Columns, Graph
from catchment.queries.problems import nearest

Row = dict[str, Any]
SUFFIXES = (".csv", ".json")
TEXT = "text"


def input_rows(graph: Graph, folder: Path) -> dict[str, list[Row]]:
    """The rows of every input; one without a file is an error."""
    return {
        name: _rows(graph, _found(graph, folder, f"input.{name}"), graph.streams[name].columns)
        for name in graph.query.inputs
    }


def table_rows(graph: Graph, folder: Path) -> dict[str, list[Row]]:
    """The rows of every table."""
    return {
        name: _rows(graph, _found(graph, folder, f"table.{name}"), table.columns)
        for name, table in graph.tables.items()
    }


def expected_rows(graph: Graph, folder: Path) -> dict[str, list[Row]]:
    """The rows that outputs have to be; at least one output has some."""
    outputs = graph.query.outputs.items()
    files = {name: _find(folder, f"expected.{name}") for name, _ in outputs}
    if not any(files.values()):
        _found(graph, folder, f"expected.{next(iter(files))}")
    columns = {name: {**graph.streams[each.source].columns, TEXT: "string"} for name, each in outputs}
    return {name: _rows(graph, file, columns[name]) for name, file in files.items() if file}


def told_rows(graph: Graph, inputs: Mapping[str, str], tables: Mapping[str, str]) -> dict[str, list[Row]]:
    """The rows of every input and table, told as text: CSV, or JSON if it begins like that."""
    columns = {name: graph.streams[name].columns for name in graph.query.inputs}
    columns |= {name: table.columns for name, table in graph.tables.items()}
    told = {**inputs, **tables}
    lacking = [name for name in columns if name not in told]
    unknown = [name for name in told if name not in columns]
    if lacking or unknown:
        problems = [f"{name}: it has no rows. Add them, or only the names of columns." for name in lacking]
        problems += [f"{name}: there is no such input or table. {nearest(name, columns)}" for name in unknown]
        raise InvalidQuery(graph.name, problems)
    return {name: _of_text(graph, name, told[name], columns[name]) for name in columns}


def told_expected(graph: Graph, expected: Mapping[str, str]) -> dict[str, list[Row]]:
    """The rows that outputs have to be, told as text."""
    outputs = graph.query.outputs
    for name in expected:
        if name not in outputs:
            raise InvalidQuery(graph.name, [f"{name}: there is no such output. {nearest(name, outputs)}"])
    columns = {name: {**graph.streams[outputs[name].source].columns, TEXT: "string"} for name in expected}
    return {name: _of_text(graph, name, text, columns[name]) for name, text in expected.items()}


def differences(expected: Iterable[Row], found: Iterable[Row]) -> list[str]:
    """What is missing and what is too much, whatever the order; only columns that are expected count."""
    wanted, have = list(expected), list(found)
    columns = list(dict.fromkeys(column for row in wanted for column in row))
    shown = [{column: row.get(column) for column in columns} for row in have] if columns else have
    missing = []
    for row in wanted:
        same = next((each for each in shown if _same(row, each)), None)
        if same is None:
            missing.append(f"missing: {show(row)}")
        else:
            shown.remove(same)
    return [*missing, *(f"not expected: {show(row)}" for row in shown)]


def show(row: Mapping[str, Any]) -> str:
    """A row as one line."""
    return ", ".join(f"{name}={_plain(value)}" for name, value in row.items())


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return "null" if value is None else value


def _same(one: Row, other: Row) -> bool:
    return all(_equal(value, other.get(name)) for name, value in one.items())


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)


def _find(folder: Path, stem: str) -> Path | None:
    return next(
        (folder / (stem + suffix) for suffix in SUFFIXES if (folder / (stem + suffix)).is_file()), None
    )


def _found(graph: Graph, folder: Path, stem: str) -> Path:
    file = _find(folder, stem)
    if file is None:
        problem = f"There is no {stem}.csv beside it, nor {stem}.json. Add one with the rows."
        raise InvalidQuery(graph.name, [problem])
    return file


def _rows(graph: Graph, file: Path, columns: Columns) -> list[Row]:
    try:
        text = file.read_text(encoding="utf-8")
        raw = _csv(text) if file.suffix == ".csv" else _json(text)
        return [_typed(row, columns) for row in raw]
    except (OSError, ValueError) as error:
        raise InvalidQuery(graph.name, [f"{file.name}: {error}. Correct it there."]) from None


def _of_text(graph: Graph, name: str, text: str, columns: Columns) -> list[Row]:
    try:
        raw = _json(text) if text.lstrip().startswith(("[", "{")) else _csv(text)
        return [_typed(row, columns) for row in raw]
    except (TypeError, ValueError) as error:
        raise InvalidQuery(graph.name, [f"{name}: {error}. Correct it there."]) from None


def _csv(text: str) -> list[Row]:
    rows = csv.DictReader(io.StringIO(text.strip(), newline=""), skipinitialspace=True)
    return [{name: value if value != "" else None for name, value in row.items()} for row in rows]


def _json(text: str) -> list[Row]:
    whole = text.strip()
    values = (
        orjson.loads(whole) if whole.startswith("[") else [orjson.loads(line) for line in whole.splitlines()]
    )
    if not all(isinstance(value, dict) for value in values):
        raise ValueError("it is not a list of objects")
    return list(values)


def _typed(row: Row, columns: Columns) -> Row:
    for name in row:
        if name not in columns:
            raise ValueError(f"there is no column {name}. {nearest(str(name), columns)}".rstrip("."))
    return {name: None if value is None else value_of(value, columns[name]) for name, value in row.items()}


def value_of(value: Any, type_name: str) -> Any:
    """A value of CSV or JSON as one of a column's type."""
    if type_name.startswith("array<"):
        items = orjson.loads(value) if isinstance(value, str) else value
        return [None if item is None else value_of(item, type_name[6:-1]) for item in items]
    return _READ[type_name](value)


def _boolean(value: Any) -> bool:
    if value in (True, "true"):
        return True
    if value in (False, "false"):
        return False
    raise ValueError(f"{value!r} is neither true nor false")


def _timestamp(value: Any) -> datetime.datetime:
    if isinstance(value, int | float) or str(value).lstrip("-").isdigit():
        return datetime.datetime.fromtimestamp(int(value) / 1000, datetime.UTC)
    moment = datetime.datetime.fromisoformat(str(value))
    return moment.replace(tzinfo=moment.tzinfo or datetime.UTC).astimezone(datetime.UTC)


_READ: dict[str, Callable[[Any], Any]] = {
    "boolean": _boolean,
    "int": int,
    "bigint": int,
    "double": float,
    "string": str,
    "timestamp": _timestamp,
    "binary": base64.b64decode,
}
