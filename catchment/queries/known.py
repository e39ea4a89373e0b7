"""The columns that inputs and tables have: said by the declaration, or known from elsewhere."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache

import avro.schema

from catchment.queries.graph import Columns, StoredTable
from catchment.queries.model import Format, Input, InputKind, Table, TableKind
from catchment.queries.problems import Problem, nearest
from catchment.registry.model import DeviceSpec, SensorSpec, SensorTypeSpec, Spec
from catchment.schemas.schema import TIME_FIELD, parse
from catchment.schemas.shipped import shipped
from catchment.twins.model import TwinTypeSpec, ValueKind

ORIGIN = "origin"
_ADDED: dict[InputKind, Columns] = {
    InputKind.RECORDS: {ORIGIN: "timestamp", "site": "string", "stream": "string"},
    InputKind.MEASUREMENTS: {ORIGIN: "timestamp", "site": "string"},
    InputKind.EVENTS: {ORIGIN: "timestamp", "site": "string"},
    InputKind.RESULTS: {ORIGIN: "timestamp", "site": "string"},
    InputKind.ALERTS: {ORIGIN: "timestamp", "site": "string"},
    InputKind.TWIN_HISTORY: {
        ORIGIN: "timestamp",
        "site": "string",
        "id": "string",
        "version": "bigint",
        "what": "string",
        "user": "string",
        "at_ms": "bigint",
    },
}
_ALERT: Columns = {
    "id": "string",
    "state": "string",
    "version": "bigint",
    "at_ms": "bigint",
    "sentence": "string",
    "node": "string",
    "sensor": "string",
    "rule": "string",
    "latest": "double",
}
_OF_TWINS: Columns = {"site": "string", "id": "string", "version": "bigint", "updated_ms": "bigint"}
_REGISTRIES: dict[str, type[Spec]] = {
    "devices": DeviceSpec,
    "sensors": SensorSpec,
    "sensor-types": SensorTypeSpec,
}
_AVRO = {
    "string": "string",
    "enum": "string",
    "int": "int",
    "long": "bigint",
    "float": "double",
    "double": "double",
    "boolean": "boolean",
    "bytes": "binary",
}
_VALUES = {
    ValueKind.NUMBER: "double",
    ValueKind.INTEGER: "bigint",
    ValueKind.TEXT: "string",
    ValueKind.BOOLEAN: "boolean",
}


@cache
def shipped_columns() -> dict[str, Columns]:
    """The columns of the subjects that come with Catchment."""
    return {subject: avro_columns(text) for subject, text in shipped().items()}


@dataclass(frozen=True)
class Known:
    """Columns that a declaration need not say: of subjects, outputs (`QUERY/OUTPUT`) and types of twins.

    On its own a file is checked with what comes with Catchment; a node knows what was declared there.
    """

    subjects: Mapping[str, Columns] = field(default_factory=shipped_columns)
    results: Mapping[str, Columns] = field(default_factory=dict)
    twin_types: Mapping[str, Columns] = field(default_factory=dict)
    # Only a node knows these: its types of twins as declared, and the tables of the lake that queries have.
    twin_specs: Mapping[str, TwinTypeSpec] | None = None
    tables: Mapping[str, str] = field(default_factory=dict)
    has_lake: bool = True


def avro_columns(text: str) -> Columns:
    """The columns of an Avro schema; fields that are no column's type are left out."""
    fields = getattr(parse(text).parsed, "fields", ())
    found = {each.name: _avro_type(each.type) for each in fields}
    columns = {name: type_name for name, type_name in found.items() if type_name}
    if columns.get(TIME_FIELD) == "bigint":
        columns[TIME_FIELD] = "timestamp"
    return columns


def twin_columns(spec: TwinTypeSpec) -> Columns:
    """The columns that values of twins of a type are."""
    return {name: _VALUES[value.kind] for name, value in spec.values.items()}


def input_columns(name: str, stated: Input, known: Known) -> tuple[Columns, Columns] | Problem:
    """The columns that an input's content brings, and all of them; or what is wrong."""
    if len(stated.kinds) != 1:
        return _not_one(("inputs", name), stated.kinds, InputKind)
    brought = _brought(name, stated, known)
    if isinstance(brought, Problem):
        return brought
    added = {column: type_name for column, type_name in _ADDED[stated.kind].items() if column not in brought}
    return brought, {**brought, **added}


def table_columns(name: str, stated: Table, known: Known) -> StoredTable | Problem:
    """The columns of a table, or what is wrong."""
    if len(stated.kinds) != 1:
        return _not_one(("tables", name), stated.kinds, TableKind)
    columns = _stored(name, stated, known)
    if isinstance(columns, Problem):
        return columns
    key = stated.key or "id"
    if key not in columns:
        return Problem(("tables", name, "key"), f"there is no column {key}", nearest(key, columns))
    return StoredTable(name, columns, key)


def _stored(name: str, stated: Table, known: Known) -> Columns | Problem:
    if stated.registry:
        own = dict.fromkeys(_REGISTRIES[stated.registry].model_fields, "string")
        return {"site": "string", "id": "string", **own}
    if stated.twins:
        values = stated.columns or known.twin_types.get(stated.twins)
        return {**_OF_TWINS, **values} if values else _unknown(("tables", name), "the type", stated.twins)
    if not stated.columns:
        return Problem(("tables", name), "a table of the lake needs its columns", "Add `schema:`")
    return stated.columns


def _brought(name: str, stated: Input, known: Known) -> Columns | Problem:
    place = ("inputs", name)
    if stated.kind is InputKind.RECORDS:
        return _of_records(place, stated)
    if stated.format is not Format.JSON:
        return Problem((*place, "format"), "only records have a format", "Leave it out")
    if stated.columns or stated.kind is InputKind.ALERTS:
        return stated.columns or _ALERT
    source, what = {
        InputKind.MEASUREMENTS: (known.subjects, "the subject"),
        InputKind.EVENTS: (known.subjects, "the subject"),
        InputKind.RESULTS: (known.results, "the output"),
        InputKind.TWIN_HISTORY: (known.twin_types, "the type"),
    }[stated.kind]
    return source.get(stated.selector) or _unknown(place, what, stated.selector)


def _of_records(place: tuple[str, ...], stated: Input) -> Columns | Problem:
    if stated.format is Format.TEXT:
        if stated.columns:
            return Problem((*place, "schema"), "text has the column text alone", "Leave out `schema:`")
        return {"text": "string"}
    if not stated.columns:
        return Problem(place, "records of JSON need their columns", "Add `schema: {column: type, …}`")
    return stated.columns


def _unknown(place: tuple[str, ...], what: str, name: str) -> Problem:
    remedy = "Add `schema:` with its columns, or declare it at the node first"
    return Problem(place, f"the columns of {what} {name} are not known", remedy)


def _not_one(place: tuple[str, ...], given: Iterable[StrEnum], kinds: Iterable[StrEnum]) -> Problem:
    said = " and ".join(given) or "none"
    return Problem(place, f"it says {said} of {', '.join(kinds)}", "Say exactly one of them")


def _avro_type(schema: avro.schema.Schema) -> str | None:
    if schema.type == "union":
        inner = [each for each in getattr(schema, "schemas", ()) if each.type != "null"]
        return _avro_type(inner[0]) if len(inner) == 1 else None
    return _AVRO.get(schema.type)
