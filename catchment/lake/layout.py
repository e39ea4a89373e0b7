"""How records become rows: for every kind of topic, and every schema of measurements, a table with columns.

docs/reference/lake.md describes the tables; jvm/src/catchment/lake has the other half, which fills them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from avro.errors import AvroException
from avro.schema import Schema, parse

from catchment.errors import InvalidRecord
from catchment.records import REASON_HEADER, TOPIC_HEADER, Kind

DAY = "day"
TIME = "time"


class Type(StrEnum):
    """What a column can hold."""

    BOOLEAN = "boolean"
    LONG = "long"
    DOUBLE = "double"
    STRING = "string"
    BINARY = "binary"
    TIMESTAMP = "timestamp"
    DATE = "date"


class Part(StrEnum):
    """What of a record a column can be taken from."""

    FIELD = "field"
    SITE = "site"
    GATEWAY = "gateway"
    EPOCH = "epoch"
    STREAM = "stream"
    SEQUENCE = "sequence"
    ORIGIN_US = "origin_us"
    TIME = "time"
    ARRIVED_MS = "arrived_ms"
    DELAY_MS = "delay_ms"
    LOGGED_MS = "logged_ms"
    PARTITION = "partition"
    OFFSET = "offset"
    KEY = "key"
    VALUE = "value"
    HEADER = "header"
    TOPIC = "topic"


@dataclass(frozen=True)
class Column:
    """A column, and what its values are taken from."""

    name: str
    type: Type
    part: Part
    argument: str = ""


@dataclass(frozen=True)
class Layout:
    """How records become rows of one table.

    The numbers (`number`) of rows with the same `identity` rise in the order of the log. Rows that are alike
    in all of `equal` are the same row.
    """

    table: str
    description: str
    columns: tuple[Column, ...]
    identity: tuple[str, ...]
    number: str
    equal: tuple[str, ...]
    time_field: str = ""
    needs_stamp: bool = False
    counted: bool = False

    def for_tasks(self, directory: str) -> dict[str, Any]:
        """What an executor has to know of it."""
        names = [column.name for column in self.columns]
        return {
            "table": self.table,
            "directory": directory,
            "columns": [asdict(column) for column in self.columns],
            "identity": [names.index(name) for name in self.identity],
            "number": names.index(self.number),
            "counted": self.counted,
            "needs_stamp": self.needs_stamp,
            "time_field": self.time_field,
        }


def _parts(*columns: tuple[Part, Type]) -> tuple[Column, ...]:
    return tuple(Column(part.value, kind, part) for part, kind in columns)


_SITE = _parts((Part.SITE, Type.STRING))
_WHEN = _parts((Part.TIME, Type.TIMESTAMP), (Part.ARRIVED_MS, Type.LONG), (Part.DELAY_MS, Type.LONG))
_STAMP = _parts(
    (Part.GATEWAY, Type.STRING),
    (Part.EPOCH, Type.LONG),
    (Part.STREAM, Type.STRING),
    (Part.SEQUENCE, Type.LONG),
    (Part.ORIGIN_US, Type.LONG),
)
_LOGGED = _parts((Part.LOGGED_MS, Type.LONG), (Part.PARTITION, Type.LONG), (Part.OFFSET, Type.LONG))
_SOURCE = ("site", "gateway", "epoch", "stream")
_PLACE = ("partition", "offset", "logged_ms")

RECORDS = Layout(
    table="records",
    description="Every record as its device sent it",
    columns=(*_SITE, *_STAMP, *_parts((Part.VALUE, Type.BINARY)), *_WHEN),
    identity=_SOURCE,
    number="sequence",
    equal=(*_SOURCE, "sequence"),
    needs_stamp=True,
    counted=True,
)
DEAD_LETTERS = Layout(
    table="dead_letters",
    description="What could not be processed, and why",
    columns=(
        Column("reason", Type.STRING, Part.HEADER, REASON_HEADER),
        Column("topic", Type.STRING, Part.HEADER, TOPIC_HEADER),
        *_parts((Part.KEY, Type.BINARY), (Part.VALUE, Type.BINARY)),
        *_WHEN,
        *_LOGGED,
    ),
    identity=("partition",),
    number="offset",
    equal=_PLACE,
)
# Where the executors say which records no row can be made of; not a table of the lake.
REFUSED = Layout(
    table="refused",
    description="Records that no row can be made of",
    columns=(
        *_parts((Part.TOPIC, Type.STRING), (Part.PARTITION, Type.LONG), (Part.OFFSET, Type.LONG)),
        Column("reason", Type.STRING, Part.HEADER, REASON_HEADER),
    ),
    identity=(),
    number="reason",
    equal=(),
)
EVENTS_TABLE = "events"
_EVENT = ("node", "site", "sensor_id", "rule")


def plain(kind: Kind) -> Layout:
    """The layout of a kind whose values are JSON: the key and the text."""
    return Layout(
        table=kind.value.replace("-", "_"),
        description=f"What was on the topic {kind.value}",
        columns=(*_parts((Part.KEY, Type.STRING), (Part.VALUE, Type.STRING)), *_WHEN, *_LOGGED),
        identity=("partition",),
        number="offset",
        equal=_PLACE,
    )


def by_topic(kind: Kind) -> Layout | None:
    """The layout of all records of a kind; None where it depends on their schema."""
    if kind in (Kind.MEASUREMENTS, Kind.EVENTS):
        return None
    return {Kind.RECORDS: RECORDS, Kind.DEADLETTER: DEAD_LETTERS}.get(kind) or plain(kind)


KIND_TABLES = frozenset({EVENTS_TABLE} | {layout.table for kind in Kind if (layout := by_topic(kind))})


def of_measurements(subject: str, schema: str) -> Layout:
    """The layout of a type of measurement."""
    sensor = Column("sensor", Type.STRING, Part.KEY)
    ours = (*_SITE, sensor, *_WHEN, *_STAMP)
    fields = _fields(schema, taken=(column.name for column in ours))
    return Layout(
        table=table_of(subject),
        description=f"Measurements of the type {subject}",
        columns=(*_SITE, sensor, *fields, *_WHEN, *_STAMP),
        identity=("sensor", *_SOURCE[1:]),
        number="sequence",
        equal=("sensor", *_SOURCE[1:], "sequence"),
        time_field="timestamp",
        needs_stamp=True,
    )


def of_events(schema: str) -> Layout:
    """The layout of events, whose schema numbers them by rule and sensor."""
    fields = _fields(schema, taken=(column.name for column in _WHEN))
    names = {column.name for column in fields}
    if not {*_EVENT, "sequence", "timestamp"} <= names:
        raise InvalidRecord("An event's schema lacks its number or its time", "Use the shipped schema.")
    return Layout(
        table=EVENTS_TABLE,
        description="Thresholds that were exceeded",
        columns=(*fields, *_WHEN),
        identity=_EVENT,
        number="sequence",
        # A rule that is made anew numbers its events from 1 again.
        equal=(*_EVENT, "sequence", "timestamp", "phase"),
        time_field="timestamp",
    )


def table_of(subject: str) -> str:
    """The name of a subject's table: `TemperatureData` is `temperature_data`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", subject.removesuffix("-value"))
    name = words.strip("_").lower() or "measurements"
    return f"{name}_data" if name in KIND_TABLES else name


def fitted(layout: Layout, present: Mapping[str, Type]) -> Layout:
    """The layout for a table that has columns already: a field with another type gets another column."""
    spelled = {name.lower(): name for name in present}
    columns = []
    for column in layout.columns:
        name = spelled.get(column.name.lower(), column.name)
        if column.part is Part.FIELD and present.get(name, column.type) is not column.type:
            name = f"{column.name}_{column.type}"
        columns.append(replace(column, name=name))
    return replace(layout, columns=tuple(columns))


def _fields(schema: str, taken: Iterable[str]) -> tuple[Column, ...]:
    """A column for each field; one that is named like one of ours gets a stroke behind its name."""
    try:
        parsed: Any = parse(schema)
    except AvroException as error:
        raise InvalidRecord(f"A schema cannot be read: {error}", "Check who wrote it.") from None
    names = {*taken, DAY}
    columns = []
    for field in getattr(parsed, "fields", ()):
        name = field.name
        while name.lower() in names:
            name += "_"
        names.add(name.lower())
        columns.append(Column(name, _type_of(field.type), Part.FIELD, field.name))
    return tuple(columns)


_PLAIN_TYPES = {
    "boolean": Type.BOOLEAN,
    "int": Type.LONG,
    "long": Type.LONG,
    "float": Type.DOUBLE,
    "double": Type.DOUBLE,
    "bytes": Type.BINARY,
    "fixed": Type.BINARY,
}
_LOGICAL_TYPES = {
    "timestamp-millis": Type.TIMESTAMP,
    "timestamp-micros": Type.TIMESTAMP,
    "date": Type.DATE,
}


def _type_of(schema: Schema) -> Type:
    """Whole numbers are long and others double, so that a type may widen; what is nested is JSON text."""
    if schema.type == "union":
        branches = [branch for branch in getattr(schema, "schemas", ()) if branch.type != "null"]
        return _type_of(branches[0]) if len(branches) == 1 else Type.STRING
    logical = _LOGICAL_TYPES.get(getattr(schema, "logical_type", ""))
    return logical or _PLAIN_TYPES.get(schema.type, Type.STRING)
