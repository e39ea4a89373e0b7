"""Measurements, schemas and rules as they stand on their topics, and events read back."""

import io
import struct
from typing import Any

import fastavro
import orjson

from catchment.alerts.rules import Rule
from catchment.records import STAMP_HEADER, Kind, Source, Stamp
from catchment.schemas.schema import AvroSchema, parse
from catchment.schemas.shipped import shipped

TEMPERATURE = parse(shipped()["TemperatureData"])
EVENT = parse(shipped()["TemperatureThresholdExceeded"])
_WIRE = struct.Struct(">bI")


def rule(site: str, name: str, version: int = 1, **values: Any) -> Rule:
    """A rule on temperatures above 80, except for what is given."""
    usual = {"field": "temperature", "lasting_every_s": 0, "site": site, "id": name, "updated_ms": 0}
    threshold = {} if "below" in values else {"above": 80.0}
    return Rule.model_validate({**usual, **threshold, **values, "version": version})


def temperature(sensor: str, timestamp: int, value: float, unit: str = "C") -> bytes:
    """A reading of TemperatureData in Confluent's wire format."""
    fields = {"sensor_id": sensor, "timestamp": timestamp, "temperature": value, "unit": unit}
    return wire(TEMPERATURE.text, TEMPERATURE.id, fields)


def wire(schema: str, schema_id: int, fields: dict[str, Any]) -> bytes:
    content = io.BytesIO()
    fastavro.schemaless_writer(content, fastavro.parse_schema(orjson.loads(schema)), fields)
    return _WIRE.pack(0, schema_id) + content.getvalue()


def stamp(source: Source, sequence: int, origin_ms: int) -> tuple[str, str | bytes | None]:
    return STAMP_HEADER, Stamp(source, sequence, origin_ms * 1000).encode()


def schema_entry(site: str, subject: str = "TemperatureData") -> tuple[Kind, bytes, bytes]:
    """A shipped schema on its topic."""
    schema = parse(shipped()[subject])
    value = {"site": site, "subject": subject, "version": 1, "id": schema.id, "schema": schema.text}
    return Kind.SCHEMAS, f"{site}/{subject}/1".encode(), orjson.dumps(value)


def event(value: bytes, written_with: AvroSchema = EVENT) -> dict[str, Any]:
    """An event's fields."""
    magic, schema_id = _WIRE.unpack_from(value)
    assert (magic, schema_id) == (0, written_with.id)
    schema = fastavro.parse_schema(orjson.loads(written_with.text))
    fields = fastavro.schemaless_reader(io.BytesIO(value[_WIRE.size :]), schema, None)
    assert isinstance(fields, dict)
    return fields
