"""Queries deployed to a running pipeline for tests: what comes in, what comes out, and how it goes."""

import io
import struct
import time
from collections.abc import Callable
from typing import Any

import avro.io
import orjson

from catchment.alerts.known import Known
from catchment.alerts.model import Notice
from catchment.config import Config
from catchment.kafka.clients import producer, read_all
from catchment.kafka.parties import Party
from catchment.lake.tables import lake_of
from catchment.queries.loading import parse_query
from catchment.queries.model import DeployedQuery
from catchment.records import STAMP_HEADER, Kind, Source, Stamp
from catchment.registry.model import Sensor
from catchment.schemas.model import SchemaVersion
from catchment.schemas.schema import parse
from tests.running_part import report_of

WAIT_S = 120.0
SITE = "deploying"


def deploy(config: Config, text: str, version: int = 1) -> None:
    query, _ = parse_query(text)
    kept = DeployedQuery(site=SITE, id=query.name, version=version, updated_ms=0, **query.spec.model_dump())
    write(config, kept.key, kept.model_dump_json().encode())


def write(
    config: Config, key: str, value: bytes | None, kind: Kind = Kind.QUERIES, party: Party = Party.API
) -> None:
    writer = producer(config, party)
    writer.produce(kind.topic, value, key)
    assert writer.flush(WAIT_S) == 0


class Sender:
    """A gateway's stream of records, or the measurements that were made of them."""

    def __init__(self, config: Config, stream: str) -> None:
        self._source = Source(SITE, "gate", 1, stream)
        self._writers = {
            Kind.RECORDS: producer(config, Party.GATEWAY),
            Kind.MEASUREMENTS: producer(config, Party.PIPELINE),
        }
        self.sent = 0

    def send(self, *contents: bytes) -> None:
        for content in contents:
            self._send(Kind.RECORDS, content, self._source.key.decode())

    def measure(self, schema: str, sensor: str, fields: dict[str, Any]) -> None:
        """A measurement in Confluent's wire format."""
        parsed = parse(schema)
        content = io.BytesIO()
        avro.io.DatumWriter(parsed.parsed).write(fields, avro.io.BinaryEncoder(content))
        wire = struct.pack(">bI", 0, parsed.id) + content.getvalue()
        self._send(Kind.MEASUREMENTS, wire, f"{SITE}/{sensor}")

    def _send(self, kind: Kind, content: bytes, key: str) -> None:
        self.sent += 1
        stamp = Stamp(self._source, self.sent, time.time_ns() // 1000).encode()
        self._writers[kind].produce(kind.topic, content, key, headers=[(STAMP_HEADER, stamp)])
        assert self._writers[kind].flush(WAIT_S) == 0


def results(config: Config, query: str, output: str) -> list[dict[str, Any]]:
    """The rows that are there now: of each key the newest version, unless it withdraws the row."""
    newest: dict[bytes, tuple[int, bytes | None]] = {}
    for message in read_all(config, Party.OPERATOR, Kind.RESULTS.topic):
        key = message.key() or b""
        if key.startswith(f"{SITE}/{query}/{output}/".encode()):
            version = int(dict(message.headers() or [])["catchment-version"] or 0)
            if version >= newest.get(key, (0, None))[0]:
                newest[key] = version, message.value()
    return [orjson.loads(value) for _, value in newest.values() if value is not None]


def figures(config: Config, query: str) -> dict[str, Any] | None:
    report = report_of(config, "pipeline")
    listed = report.figures.get("queries", []) if report else []
    return next((each for each in listed if each["name"] == f"deployed/{query}"), None)


def wait_for(config: Config, reached: Callable[[], Any]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not reached():
        told = report_of(config, "pipeline")
        assert time.monotonic() < deadline, told and told.figures
        time.sleep(0.5)


def register(config: Config, text: str, subject: str, version: int) -> None:
    schema = parse(text)
    entry = SchemaVersion(site=SITE, subject=subject, version=version, id=schema.id, text=schema.text)
    write(config, entry.key, entry.model_dump_json().encode(), Kind.SCHEMAS)


def place(config: Config, device: str, version: int) -> None:
    sensor = Sensor(
        site=SITE, id="s1", version=version, updated_ms=0, name="S", device_id=device, sensor_type_id="thermo"
    )
    write(config, sensor.key, sensor.model_dump_json().encode(), Kind.SENSORS)


def notices(config: Config) -> set[str]:
    """What the query `watch` has told people."""
    messages = read_all(config, Party.OPERATOR, Kind.EVENTS.topic)
    # Others write what nobody can read.
    ours = [value for each in messages if b"query/watch" in (value := each.value() or b"")]
    found = map(Known(SITE).decode, ours)
    return {each.text for each in found if isinstance(each, Notice) and each.rule == "query/watch"}


def degrees(config: Config) -> dict[str, float]:
    """The twins of rooms."""
    found = {}
    for message in read_all(config, Party.OPERATOR, Kind.TWINS.topic):
        site, _, room = (message.key() or b"").decode().partition("/")
        if site == SITE:
            found[room] = orjson.loads(message.value() or b"{}")["values"]["degrees"]
    return found


def minutes(config: Config) -> dict[str, int]:
    """Readings of each room, by the table of the lake."""
    table = lake_of(config).find("watch_minutes")
    rows = table.to_pyarrow_table().to_pylist() if table else []
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["room"]] = counts.get(row["room"], 0) + row["n"]
    return counts
