"""A row of the ledger and a mark of a gateway, as they stand on their topics."""

from typing import Any, TypeVar

import orjson
from pydantic import BaseModel

from catchment.errors import InvalidRecord
from catchment.records import Source

Fields = TypeVar("Fields", bound=BaseModel)


class LedgerRow(BaseModel, frozen=True):
    """What has arrived of one source. Readers keep the row with the highest version."""

    site: str
    gateway: str
    epoch: int
    stream: str
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
    def source(self) -> Source:
        return Source(self.site, self.gateway, self.epoch, self.stream)


class Mark(BaseModel, frozen=True):
    """What a gateway has accepted of one source: records 1 to `accepted`."""

    site: str
    gateway: str
    epoch: int
    stream: str
    accepted: int

    @property
    def source(self) -> Source:
        return Source(self.site, self.gateway, self.epoch, self.stream)


def decode(model: type[Fields], value: bytes | None) -> Fields:
    """A row or mark from its bytes on a topic."""
    try:
        fields: Any = orjson.loads(value or b"")
        return model.model_validate(fields)
    except ValueError as error:
        raise InvalidRecord(
            f"A {model.__name__} cannot be read: {error}", "Check who else writes to its topic."
        ) from None
