"""Rows of the ledger, counts at a hop and marks of a gateway, as they stand on their topics."""

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel

from catchment.errors import InvalidRecord
from catchment.records import Source


class Sourced(BaseModel, ABC, frozen=True):
    """Something that is said of one source."""

    site: str
    gateway: str
    epoch: int
    stream: str

    @property
    def source(self) -> Source:
        return Source(self.site, self.gateway, self.epoch, self.stream)

    @property
    @abstractmethod
    def rank(self) -> int:
        """Of two that say something of the same, the one with the higher rank is newer."""


Fields = TypeVar("Fields", bound=Sourced)


class LedgerRow(Sourced, frozen=True):
    """What has arrived of one source. Readers keep the row with the highest version."""

    version: int
    received: int
    highest: int
    duplicates: int
    out_of_order: int
    missing: int
    gaps: list[tuple[int, int]]
    first_origin_us: int
    last_origin_us: int

    @property
    def rank(self) -> int:
        return self.version


class Stage(StrEnum):
    """Where in a node something is counted, in the order of a record's way."""

    BROKER = "broker"
    LAKE = "lake"
    POSTGRES = "postgres"


class HopRow(LedgerRow, frozen=True):
    """What a node has counted of one source, said about once a second."""

    node: str
    stage: Stage
    # Of several stores of a stage, which.
    store: str = ""

    @property
    def key(self) -> bytes:
        place = f"{self.node}/{self.stage}" + (f".{self.store}" if self.store else "")
        return b"%b/%b" % (place.encode(), self.source.identity)


class Mark(Sourced, frozen=True):
    """What a gateway has accepted of one source: records 1 to `accepted`."""

    accepted: int

    @property
    def rank(self) -> int:
        return self.accepted


def decode(model: type[Fields], value: bytes | None) -> Fields:
    """A row or mark from its bytes on a topic."""
    try:
        fields: Any = orjson.loads(value or b"")
        return model.model_validate(fields)
    except ValueError as error:
        raise InvalidRecord(
            f"A {model.__name__} cannot be read: {error}", "Check who else writes to its topic."
        ) from None
