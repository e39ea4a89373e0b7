"""One Avro schema: parsed, in canonical text, with the id that follows from its content."""

import hashlib
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import avro.errors
import avro.schema

from catchment.errors import SchemaRefused

_INTEGERS = {"int": 2**31, "long": 2**63}
# What becomes of a measurement has these, and at least one field more.
SENSOR_FIELD, TIME_FIELD = "sensor_id", "timestamp"


@dataclass(frozen=True)
class AvroSchema:
    """A schema that was understood."""

    text: str
    parsed: avro.schema.Schema

    @property
    def id(self) -> int:
        """31 bits of the text's SHA-256: the same at every node, without asking anyone."""
        return id_of(self.text)


def parse(text: str) -> AvroSchema:
    """The schema, or a refusal that says what is wrong with it."""
    try:
        raw = json.loads(text, parse_constant=_refuse_constant)
        with warnings.catch_warnings():
            # A logical type that is not known is no mistake: it is the type below it.
            warnings.simplefilter("ignore", avro.errors.IgnoredLogicalType)
            schema = AvroSchema(canonical(raw), avro.schema.parse(text))
        faults = list(_faults(schema.parsed, "", set()))
    except (ValueError, RecursionError, avro.errors.AvroException) as error:
        raise SchemaRefused(f"This is no Avro schema: {error}", _ADVICE) from None
    if faults:
        raise SchemaRefused(f"This is no Avro schema: {'; '.join(faults)}", _ADVICE)
    return schema


def canonical(raw: Any) -> str:
    """JSON without space between and with sorted keys. Names, defaults and documentation all count."""
    text = json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    text.encode()
    return text


def id_of(text: str) -> int:
    """The id of a schema in canonical text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") & 0x7FFF_FFFF or 1


def check_measurement(schema: AvroSchema) -> None:
    """Refuses a schema whose records could not say of which sensor and of what time they are."""
    fields = {field.name: field.type for field in getattr(schema.parsed, "fields", ())}
    for name, wanted in ((SENSOR_FIELD, "string"), (TIME_FIELD, "long")):
        if name not in fields or fields[name].type != wanted:
            raise SchemaRefused(
                f"The schema is none of measurements: it has no field {name} of type {wanted}", _MEASUREMENT
            )
    if len(fields) < 3:
        raise SchemaRefused("The schema is none of measurements: it has no field to measure", _MEASUREMENT)


def _faults(schema: avro.schema.Schema, place: str, seen: set[int]) -> Iterator[str]:
    """What Apache's package lets pass and others that read the schema do not."""
    if id(schema) in seen:
        return
    seen.add(id(schema))
    if schema.type in ("error", "error_union"):
        yield f"{schema.type} is for protocols"
    if not isinstance(getattr(schema, "symbols", []), list):
        yield f"the symbols of {place or 'the enum'} are no list"
    if not isinstance(schema.props.get("aliases", []), list):
        yield f"the aliases of {place or 'the schema'} are no list"
    for field in getattr(schema, "fields", ()):
        path = f"{place}.{field.name}" if place else field.name
        if field.has_default and not default_fits(field.type, field.default):
            yield f"the default {json.dumps(field.default)} of {path} is not of its type {_FIRST_BRANCH}"
        yield from _faults(field.type, path, seen)
    for inner in inner_schemas(schema):
        yield from _faults(inner, place, seen)


def inner_schemas(schema: avro.schema.Schema) -> list[avro.schema.Schema]:
    """What an array, a map or a union is made of."""
    if isinstance(schema, avro.schema.UnionSchema):
        return list(schema.schemas)
    if isinstance(schema, avro.schema.ArraySchema):
        return [schema.items]
    return [schema.values] if isinstance(schema, avro.schema.MapSchema) else []


def default_fits(schema: avro.schema.Schema, value: Any, any_branch: bool = False) -> bool:
    """Whether a value in JSON is of a type: a default must be of the first branch of a union."""
    if isinstance(schema, avro.schema.UnionSchema):
        branches = schema.schemas if any_branch else schema.schemas[:1]
        return any(default_fits(branch, value, any_branch) for branch in branches)
    if isinstance(schema, avro.schema.RecordSchema):
        return isinstance(value, dict) and all(
            default_fits(field.type, value[field.name]) if field.name in value else field.has_default
            for field in schema.fields
        )
    if isinstance(schema, avro.schema.ArraySchema):
        return isinstance(value, list) and all(default_fits(schema.items, each) for each in value)
    if isinstance(schema, avro.schema.MapSchema):
        return isinstance(value, dict) and all(default_fits(schema.values, each) for each in value.values())
    return _scalar_fits(schema, value)


def _scalar_fits(schema: avro.schema.Schema, value: Any) -> bool:
    kind = schema.type
    if kind in _INTEGERS:
        limit = _INTEGERS[kind]
        return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit
    if kind in ("float", "double"):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind in ("bytes", "fixed"):
        wanted = getattr(schema, "size", None)
        return isinstance(value, str) and _is_latin(value) and wanted in (None, len(value))
    if isinstance(schema, avro.schema.EnumSchema):
        return value in schema.symbols
    return isinstance(value, {"string": str, "boolean": bool, "null": type(None)}[kind])


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number in JSON")


def _is_latin(value: str) -> bool:
    return all(ord(character) < 256 for character in value)


_FIRST_BRANCH = "(of a union, that of its first branch)"
_ADVICE = "See https://avro.apache.org/docs/1.12.0/specification/ for what a schema may say."
_MEASUREMENT = "Measurements have sensor_id (string), timestamp (long, in ms) and at least one further field."
