"""Schemas by their id, as whoever decodes records needs them."""

from collections.abc import Iterable

import orjson
from pydantic import ValidationError

from catchment.config import Config
from catchment.kafka.clients import read_all
from catchment.kafka.parties import Party
from catchment.records import Kind
from catchment.schemas.model import SchemaVersion, decode


def known_schemas(config: Config, party: Party) -> dict[int, SchemaVersion]:
    """Every schema that is on the topic now, deleted versions too: records in the log may still need them."""
    entries = {message.key(): message.value() for message in read_all(config, party, Kind.SCHEMAS.topic)}
    return by_id(version for value in entries.values() if (version := _version(value)))


def by_id(versions: Iterable[SchemaVersion]) -> dict[int, SchemaVersion]:
    """A schema that several subjects have goes under the one that its record is named after, or else under
    the one that had it first.
    """
    found: dict[int, list[SchemaVersion]] = {}
    for version in versions:
        found.setdefault(version.id, []).append(version)
    return {id_: min(versions, key=_is_named_otherwise) for id_, versions in found.items()}


def _version(value: bytes | None) -> SchemaVersion | None:
    try:
        entry = decode(value) if value else None
    except ValidationError:
        return None
    return entry if isinstance(entry, SchemaVersion) else None


def _is_named_otherwise(version: SchemaVersion) -> bool:
    schema = orjson.loads(version.text)
    return not isinstance(schema, dict) or schema.get("name") != version.subject
