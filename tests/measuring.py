"""Schemas, mappings and records for tests, as they stand on their topics; and measurements read back."""

import io
from typing import Any

import fastavro
import orjson
from fastavro.types import Schema

from catchment.pipeline.control import Declaration, Declarations
from catchment.records import STAMP_HEADER, Kind, Source, Stamp
from catchment.registry.model import Mapping, MappingSpec, key_of

RECORD_COLUMNS = (
    "topic string, partition int, offset bigint, key binary, value binary, "
    "headers array<struct<key: string, value: binary>>"
)


def schema_text(name: str, *further: dict[str, Any]) -> str:
    """A schema of measurements with these further fields."""
    common = [{"name": "sensor_id", "type": "string"}, {"name": "timestamp", "type": "long"}]
    return orjson.dumps({"type": "record", "name": name, "fields": [*common, *further]}).decode()


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    """A field of a schema; `default` may come in `more`."""
    return {"name": name, "type": kind, **more}


def schema_entry(
    subject: str, schema: str, *, site: str, version: int = 1, number: int = 1, deleted: bool = False
) -> Declaration:
    """A version of a subject; `number` is the schema's id."""
    value = {
        "site": site,
        "subject": subject,
        "version": version,
        "id": number,
        "schema": schema,
        "deleted": deleted,
    }
    return Declaration(Kind.SCHEMAS, f"{site}/{subject}/{version}".encode(), orjson.dumps(value))


def mapping_entry(identifier: str, *, site: str, offset: int = 0, **spec: Any) -> Declaration:
    """A mapping as the registry writes it."""
    checked = MappingSpec.model_validate(spec)
    mapping = Mapping(site=site, id=identifier, version=1, updated_ms=0, **checked.model_dump())
    key = key_of(site, identifier).encode()
    return Declaration(Kind.MAPPINGS, key, mapping.model_dump_json().encode(), offset)


def removed(declaration: Declaration, offset: int) -> tuple[Any, ...]:
    """The row that takes a declaration back."""
    return (declaration.kind.topic, 0, offset, declaration.key, None, None)


def as_row(declaration: Declaration) -> tuple[Any, ...]:
    """A declaration as it comes among the data."""
    return (declaration.kind.topic, 0, declaration.offset, declaration.key, declaration.value, None)


def record_row(source: Source, number: int, message: object, origin_us: int = 0) -> tuple[Any, ...]:
    """A record of a device; what is no bytes is written as JSON."""
    value = message if isinstance(message, bytes) else orjson.dumps(message)
    stamp = Stamp(source, number, origin_us).encode()
    return (Kind.RECORDS.topic, 0, number, source.key, value, [(STAMP_HEADER, stamp)])


def declared(*newest: Declaration) -> Declarations:
    return Declarations(newest)


def wire(number: int, schema: str, record: dict[str, Any]) -> bytes:
    """A record in Confluent's wire format, written by another hand than ours."""
    out = io.BytesIO(b"\0" + number.to_bytes(4, "big"))
    out.seek(0, io.SEEK_END)
    fastavro.schemaless_writer(out, _parsed(schema), record)
    return out.getvalue()


def read_wire(message: bytes, schema: str) -> tuple[int, dict[str, Any]]:
    """The schema's id and the record; fails if anything is left over."""
    assert message[0] == 0
    body = io.BytesIO(message[5:])
    record = fastavro.schemaless_reader(body, _parsed(schema), None)
    assert not body.read()
    assert isinstance(record, dict)
    return int.from_bytes(message[1:5], "big"), record


def _parsed(schema: str) -> Schema:
    parsed: Schema = orjson.loads(schema)
    return parsed
