"""What people declare of twins: types of objects, and the feeds that their changes come from."""

import math
from typing import Any

import avro.schema

from catchment.errors import Conflict, InvalidRequest, SchemaRefused
from catchment.kafka.table import Tables
from catchment.records import Kind
from catchment.registry.shelf import ANYTHING, Expected, Shelf
from catchment.schemas.registry import SchemaRegistry
from catchment.schemas.schema import check_measurement, parse
from catchment.twins.model import (
    FromMeasurements,
    TwinFeed,
    TwinFeedSpec,
    TwinType,
    TwinTypeSpec,
    ValueKind,
    ValueSpec,
)

_NUMBERS = (ValueKind.NUMBER, ValueKind.INTEGER)
_PLACES = ("{sensor}", "{device}")


class TwinDeclarations:
    """The types and feeds of this node, and at a centre the types of its sites."""

    def __init__(self, site: str, tables: Tables, schemas: SchemaRegistry) -> None:
        self._tables = tables
        self._schemas = schemas
        self.types = Shelf("twin-type", site, tables, Kind.TWIN_TYPES, TwinType)
        self.feeds = Shelf("twin-feed", site, tables, Kind.TWIN_FEEDS, TwinFeed)

    def put_type(self, identifier: str, spec: TwinTypeSpec, expected: Expected = ANYTHING) -> TwinType:
        """Declares or changes a type; what it says of values must make sense."""
        for name, value in spec.values.items():
            _check_value(f"values.{name}", value)
        return self.types.put(identifier, spec, expected)

    def delete_type(self, identifier: str, expected: Expected = ANYTHING) -> None:
        """Deletes a type that no feed refers to. Its objects stay, and can only be deleted."""
        with self._tables.lock:
            users = [feed.id for feed in self.feeds.own() if feed.type == identifier]
            if users:
                raise Conflict(
                    f"The twin-type {identifier!r} is referred to by the feeds {', '.join(users)}",
                    "Remove or change those feeds first.",
                )
            self.types.delete(identifier, expected)

    def put_feed(self, identifier: str, spec: TwinFeedSpec, expected: Expected = ANYTHING) -> TwinFeed:
        """Declares or changes a feed; its type must be there, and its source fit the schema."""
        with self._tables.lock:
            if spec.type is not None and self.types.find(spec.type) is None:
                raise InvalidRequest(
                    f"type: the twin-type {spec.type!r} is not there",
                    f"Declare it first: `catchment register twin-type add {spec.type}`.",
                )
            if isinstance(spec.source, FromMeasurements):
                self._check_measured(spec.source)
            return self.feeds.put(identifier, spec, expected)

    def _check_measured(self, source: FromMeasurements) -> None:
        fields = self._fields_of(source.subject)
        for name, field in source.values.items():
            if field not in fields:
                raise InvalidRequest(
                    f"source.values.{name}: {source.subject} has no field {field!r}",
                    f"It has {', '.join(fields)}. See the schema.",
                )
        rest = source.object
        for place in _PLACES:
            rest = rest.replace(place, "")
        if "{" in rest or "}" in rest:
            raise InvalidRequest(
                f"source.object: {source.object} has braces that stand for nothing",
                "Only {sensor} and {device} are replaced.",
            )

    def _fields_of(self, subject: str) -> list[str]:
        try:
            schema = parse(self._schemas.version(subject).text)
            check_measurement(schema)
        except SchemaRefused as error:
            raise InvalidRequest(
                f"source.subject: {subject!r} cannot be referred to: {error.happened}", error.remedy
            ) from None
        assert isinstance(schema.parsed, avro.schema.RecordSchema)
        return [field.name for field in schema.parsed.fields]


def _check_value(place: str, value: ValueSpec) -> None:
    for key, kinds in (("min", _NUMBERS), ("max", _NUMBERS), ("max_length", (ValueKind.TEXT,))):
        bound = getattr(value, key)
        if bound is None:
            continue
        if value.kind not in kinds:
            raise _wrong(f"{place}.{key}", f"a value of kind {value.kind} has no such bound", "Leave it out.")
        if not math.isfinite(bound):
            raise _wrong(f"{place}.{key}", f"{bound} is no bound", "Give a number, or leave it out.")
    if value.min is not None and value.max is not None and value.min > value.max:
        raise _wrong(f"{place}.min", f"{value.min} is above max, {value.max}", "Exchange them.")
    for each in value.one_of or ():
        if not _is_of(value.kind, each):
            raise _wrong(
                f"{place}.one_of", f"{each!r} is not of kind {value.kind}", "Give values of its kind."
            )


def _is_of(kind: ValueKind, value: Any) -> bool:
    if isinstance(value, bool) or kind is ValueKind.BOOLEAN:
        return kind is ValueKind.BOOLEAN and isinstance(value, bool)
    if kind is ValueKind.TEXT:
        return isinstance(value, str)
    if kind is ValueKind.INTEGER:
        return isinstance(value, int) and -(2**63) <= value < 2**63
    return isinstance(value, int | float) and math.isfinite(value)


def _wrong(place: str, why: str, remedy: str) -> InvalidRequest:
    return InvalidRequest(f"{place}: {why}", remedy)
