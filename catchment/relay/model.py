"""What the relay knows of a site: how far it has read each partition, and what it found amiss there."""

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from pydantic import BaseModel, Field

from catchment.health import State


class Place(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


class Position(BaseModel, frozen=True):
    """All of a source partition before `next_offset` is at the centre."""

    site: str
    topic: str
    partition: int
    topic_id: str = Field(
        description="Kafka's own id of the source topic; another one after it was recreated."
    )
    next_offset: int
    leader_epoch: int | None = Field(None, description="The term of the source's leader that was read last.")

    @property
    def key(self) -> bytes:
        return f"position/{self.site}/{self.topic}/{self.partition}".encode()


class Finding(StrEnum):
    """What can be amiss with a source."""

    TRUNCATED = "truncated"
    RECREATED = "recreated"
    SET_BACK = "set-back"


class Incident(BaseModel, frozen=True):
    """Offsets of a source that could not be relayed, or that came to hold other records afterwards."""

    site: str
    topic: str
    partition: int
    finding: Finding = Field(
        description="truncated: deleted before it was relayed; recreated: the topic is another one of "
        "the same name; set-back: the source lost its newest records and gave their offsets to others."
    )
    first_offset: int
    last_offset: int | None = Field(description="Null if nobody can tell any more.")
    at_ms: int = Field(description="When it was noticed, in ms since 1970.")

    @property
    def key(self) -> bytes:
        return f"incident/{self.site}/{self.topic}/{self.partition}/{self.at_ms}".encode()

    @property
    def text(self) -> str:
        last = "?" if self.last_offset is None else self.last_offset
        return f"{self.topic}[{self.partition}] {self.finding}: offsets {self.first_offset} to {last}"


class SiteState(BaseModel, frozen=True):
    """A registered site, and how its relay is."""

    name: str
    bootstrap_servers: str
    paused: bool = False
    state: State
    detail: str = ""
    topics: int = Field(0, description="Topics of the site that are relayed.")
    lag_records: int | None = Field(None, description="Records at the site that are not at the centre yet.")
    delay_ms: float | None = Field(None, description="Age of the newest relayed record when it was relayed.")
    relayed_records: int = Field(0, description="Records relayed since the relay started.")
    uptime_s: float = Field(0, description="For how long the site has been relayed without a failure.")
    restarts: int = 0
    last_error: str = ""
    incidents: list[Incident] = Field(default_factory=list, description="The newest hundred, newest first.")
    incident_count: int = 0


@dataclass(frozen=True)
class Extent:
    """What a source partition holds: offsets from `first` to just before `end`."""

    topic_id: str
    first: int
    end: int


def judge(
    site: str, place: Place, position: Position | None, extent: Extent, known_end: int | None = None
) -> tuple[int, Incident | None]:
    """Where to go on reading a partition, and what is amiss with it.

    `known_end` is where the source ended when it was last looked at.
    """
    if position is None:
        return extent.first, None
    reached = position.next_offset
    if position.topic_id != extent.topic_id:
        last = known_end - 1 if known_end is not None and known_end > reached else None
        return extent.first, incident(site, place, Finding.RECREATED, reached, last)
    if reached < extent.first:
        return extent.first, incident(site, place, Finding.TRUNCATED, reached, extent.first - 1)
    if reached > extent.end:
        return extent.end, incident(site, place, Finding.SET_BACK, extent.end, reached - 1)
    return reached, None


def incident(site: str, place: Place, finding: Finding, first: int, last: int | None) -> Incident:
    """An incident that is noticed now."""
    return Incident(
        site=site,
        topic=place.topic,
        partition=place.partition,
        finding=finding,
        first_offset=first,
        last_offset=last,
        at_ms=time.time_ns() // 1_000_000,
    )
