"""Messages and changes of twins as they stand on topics, for tests."""

from typing import Any

import orjson

from catchment.records import STAMP_HEADER, Kind, Source, Stamp
from catchment.twins.model import Change, TwinFeed, TwinType

SCHEMA = (
    "topic string, partition int, offset bigint, key binary, value binary, "
    "headers array<struct<key: string, value: binary>>"
)
KILN = {
    "name": "Kiln",
    "values": {
        "heat": {"kind": "number", "min": -10, "max": 1200},
        "runs": {"kind": "integer", "min": 0, "max": 5},
        "mode": {"kind": "text", "max_length": 4, "one_of": ["on", "off", "ä😀"]},
        "door": {"kind": "boolean"},
        "serial": {"kind": "text", "required": True},
    },
    "writers": ["token/*", "stream/lab"],
}
FREE = {"name": "Free", "open": True, "values": {"heat": {"kind": "number"}}, "writers": ["*"]}

Row = tuple[str, int, int, bytes | None, bytes | None, list[tuple[str, bytes]]]


def twin_type(site: str, identifier: str, spec: dict[str, Any]) -> TwinType:
    return TwinType.model_validate({**spec, "site": site, "id": identifier, "version": 1, "updated_ms": 0})


def twin_feed(
    site: str, identifier: str, source: dict[str, Any], type_: str | None = None, updated_ms: int = 0
) -> TwinFeed:
    fields = {
        "site": site,
        "id": identifier,
        "version": 1,
        "updated_ms": updated_ms,
        "source": source,
        "type": type_,
    }
    return TwinFeed.model_validate(fields)


def stamp(source: Source, sequence: int, origin_ms: int = 0) -> tuple[str, bytes]:
    return STAMP_HEADER, Stamp(source, sequence, origin_ms * 1000).encode()


class Topics:
    """Rows as they stand on Kafka, in the order in which an operator sees them."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def add(self, kind: Kind, key: str, value: bytes | None, *headers: tuple[str, bytes]) -> None:
        self.rows.append((kind.topic, 0, len(self.rows), key.encode(), value, list(headers)))

    def declare(self, *declared: TwinType | TwinFeed) -> None:
        for each in declared:
            kind = Kind.TWIN_TYPES if isinstance(each, TwinType) else Kind.TWIN_FEEDS
            self.add(kind, each.key, each.model_dump_json().encode())

    def change(self, change: Change, *headers: tuple[str, bytes]) -> None:
        self.add(Kind.TWIN_CHANGES, change.key, as_json(change), *headers)


def as_json(change: Change) -> bytes:
    """What is not said is left out, as senders do."""
    return change.model_dump_json(exclude_defaults=True).encode()


def parsed(value: bytes | bytearray | None) -> Any:
    return None if value is None else orjson.loads(value)
