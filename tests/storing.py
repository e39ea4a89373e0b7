"""Schemas and measurements for tests, written to their topics as the parts that own them do."""

import io
import json
import time
import zlib
from typing import Any

import fastavro
from confluent_kafka import Producer

from catchment.config import Config
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.records import STAMP_HEADER, Kind, Source, Stamp

FLUSH_S = 30.0


class Measure:
    """One schema, and readings of it."""

    def __init__(self, name: str, **fields: Any) -> None:
        described = [{"name": "sensor_id", "type": "string"}, {"name": "timestamp", "type": "long"}]
        described += [{"name": field, "type": kind} for field, kind in fields.items()]
        self.schema = {"type": "record", "name": name, "fields": described}
        self.id = zlib.crc32(json.dumps(self.schema).encode()) & 0x7FFFFFFF

    def declare(self, config: Config, site: str = "local") -> None:
        name = self.schema["name"]
        entry = {"site": site, "subject": name, "version": self.id, "id": self.id, "deleted": False}
        value = json.dumps({**entry, "schema": json.dumps(self.schema)})
        write(producer(config, Party.API), Kind.SCHEMAS.topic, value.encode(), f"{site}/{name}/{self.id}")

    def encode(self, sensor: str, timestamp_ms: int, **values: Any) -> bytes:
        body = io.BytesIO()
        record = {"sensor_id": sensor, "timestamp": timestamp_ms, **values}
        fastavro.schemaless_writer(body, fastavro.parse_schema(self.schema), record)
        return b"\0" + self.id.to_bytes(4, "big") + body.getvalue()


def write(writer: Producer, topic: str, value: bytes, key: str, **options: Any) -> None:
    writer.produce(topic, value, key, **options)
    assert writer.flush(FLUSH_S) == 0


def stamp(stream: str, number: int, origin_us: int | None = None, site: str = "local") -> bytes:
    source = Source(site, "gate", 1, stream)
    return Stamp(source, number, time.time_ns() // 1000 if origin_us is None else origin_us).encode()


def stamped(header: bytes) -> list[tuple[str, str | bytes | None]]:
    return [(STAMP_HEADER, header)]
