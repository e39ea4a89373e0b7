"""Who has taken note of an alert: an entry of `alert-acknowledgements`, keyed by the alert's id."""

import time

from pydantic import BaseModel, Field

from catchment.kafka.table import Tables
from catchment.records import Kind


class Acknowledgement(BaseModel, frozen=True):
    """Somebody has seen an alert, and looks after it."""

    by: str = Field(description="Who: `user/NAME` or `token/NAME`.")
    at_ms: int = Field(description="When, in ms since 1970.")
    note: str = Field("", description="What they had to say.")


class Acknowledgements:
    """The first acknowledgement of each alert; further ones change nothing."""

    def __init__(self, tables: Tables) -> None:
        self._table = tables.add(Kind.ACKNOWLEDGEMENTS, Acknowledgement.model_validate_json)

    def get(self, alert: str) -> Acknowledgement | None:
        return self._table.get(alert)

    def add(self, alert: str, by: str, note: str) -> None:
        mine = Acknowledgement(by=by, at_ms=time.time_ns() // 1_000_000, note=note)
        self._table.update(alert, lambda present: present or mine)

    @property
    def count(self) -> int:
        return len(self._table.all())
