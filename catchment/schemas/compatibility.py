"""What one schema can read of another. Apache's checker judges; the walk over it names the field."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import avro.schema
from avro.compatibility import (
    ReaderWriterCompatibilityChecker,
    SchemaCompatibilityType,
    check_schema_names,
    lookup_writer_field,
)

from catchment.schemas.schema import AvroSchema

NEW = "the new schema"


class Level(StrEnum):
    """What a new version must be able to read of earlier ones, or they of it."""

    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"
    NONE = "NONE"

    @property
    def transitive(self) -> bool:
        """Whether all earlier versions count, and not the latest alone."""
        return self.value.endswith("_TRANSITIVE")

    @property
    def backward(self) -> bool:
        """Whether the new version must read what earlier ones wrote."""
        return self.value.startswith(("BACKWARD", "FULL"))

    @property
    def forward(self) -> bool:
        """Whether earlier versions must read what the new one writes."""
        return self.value.startswith(("FORWARD", "FULL"))


@dataclass(frozen=True)
class Earlier:
    """A version that a new schema is compared with."""

    name: str
    schema: AvroSchema


def objections(level: Level, new: AvroSchema, earlier: Sequence[Earlier]) -> list[str]:
    """Why the new schema cannot follow the earlier ones, oldest first; nothing if it can."""
    found: list[str] = []
    for each in earlier if level.transitive else earlier[-1:]:
        if level.backward:
            found += differences(Side(NEW, new.parsed), Side(each.name, each.schema.parsed))
        if level.forward:
            found += differences(Side(each.name, each.schema.parsed), Side(NEW, new.parsed))
    return found


@dataclass(frozen=True)
class Side:
    """A schema, or a part of one, and what people call the whole."""

    name: str
    schema: avro.schema.Schema

    def part(self, schema: avro.schema.Schema) -> "Side":
        return Side(self.name, schema)


def differences(reader: Side, writer: Side) -> list[str]:
    """What keeps the reader from reading what the writer writes, each with the field that it is about."""
    return list(_walk(reader, writer, "", set()))


def _walk(reader: Side, writer: Side, place: str, under_way: set[tuple[int, int]]) -> Iterator[str]:
    pair = (id(reader.schema), id(writer.schema))
    if pair in under_way:
        return
    under_way = under_way | {pair}
    theirs, ours = reader.schema, writer.schema
    if isinstance(theirs, avro.schema.RecordSchema) and isinstance(ours, avro.schema.RecordSchema):
        yield from _walk_record(reader, writer, theirs, ours, place, under_way)
    elif isinstance(theirs, avro.schema.ArraySchema) and isinstance(ours, avro.schema.ArraySchema):
        yield from _walk(reader.part(theirs.items), writer.part(ours.items), f"{place}[]", under_way)
    elif isinstance(theirs, avro.schema.MapSchema) and isinstance(ours, avro.schema.MapSchema):
        yield from _walk(reader.part(theirs.values), writer.part(ours.values), f"{place}{{}}", under_way)
    elif not _reads(theirs, ours):
        yield (
            f"{_named(place)}: {writer.name} writes {_kind(ours)}, "
            f"which {reader.name} cannot read as {_kind(theirs)}"
        )


def _walk_record(
    reader: Side,
    writer: Side,
    theirs: avro.schema.RecordSchema,
    ours: avro.schema.RecordSchema,
    place: str,
    under_way: set[tuple[int, int]],
) -> Iterator[str]:
    if check_schema_names(theirs, ours, []).compatibility is not SchemaCompatibilityType.compatible:
        yield f"{_named(place)}: {writer.name} writes {_kind(ours)}, {reader.name} expects {_kind(theirs)}"
    for field in theirs.fields:
        path = f"{place}.{field.name}" if place else field.name
        written = lookup_writer_field(ours, field)
        if written is not None:
            yield from _walk(reader.part(field.type), writer.part(written.type), path, under_way)
        elif not field.has_default:
            yield f"{_named(path)}: {reader.name} has no default for it, and {writer.name} does not have it"


def _reads(reader: avro.schema.Schema, writer: avro.schema.Schema) -> bool:
    judged = ReaderWriterCompatibilityChecker().get_compatibility(reader, writer)  # type: ignore[no-untyped-call]
    return bool(judged.compatibility is SchemaCompatibilityType.compatible)


def _named(place: str) -> str:
    return f"field {place}" if place else "the schema itself"


def _kind(schema: avro.schema.Schema) -> str:
    """A type as people say it."""
    if isinstance(schema, avro.schema.UnionSchema):
        return f"[{', '.join(_kind(branch) for branch in schema.schemas)}]"
    if isinstance(schema, avro.schema.EnumSchema):
        return f"enum {schema.name} ({', '.join(schema.symbols)})"
    if isinstance(schema, avro.schema.FixedSchema):
        return f"fixed {schema.name} of {schema.size} bytes"
    return f"record {schema.name}" if isinstance(schema, avro.schema.RecordSchema) else str(schema.type)
