"""How each site is, in one line: what comes from it, how late, what waits, and whether something is amiss."""

from collections.abc import Iterable
from enum import StrEnum
from itertools import groupby

from pydantic import BaseModel, Field

from catchment.api.rates import StreamState
from catchment.health import State
from catchment.node.status import Component, NodeStatus

# How the components that say something of a site begin.
_RELAY = "relay:"
_LEDGER = "query:ledger"


class Health(StrEnum):
    """How well something is."""

    WELL = "well"
    FAIR = "fair"
    BAD = "bad"


class SiteHealth(BaseModel, frozen=True):
    """A site at one moment."""

    name: str
    own: bool = Field(description="Whether it is the site of this node.")
    health: Health
    why: str = Field(description="What is amiss; empty when it is well.")
    rate_per_s: float | None = Field(
        description="Records a second; null until there are two looks to compare."
    )
    delay_ms: float | None = Field(description="How old records are when they are counted here.")
    backlog_records: int = Field(description="Accepted there, and not counted here yet.")
    missing: int
    streams: int
    last_origin_us: int = Field(description="When its latest record began its way; 0 if none has come.")


def site_health(own_site: str, streams: Iterable[StreamState], status: NodeStatus | None) -> list[SiteHealth]:
    """This node's own site, those that are relayed, and all of which records came; sorted by name."""
    components = {each.name: each for each in status.components} if status else {}
    by_site = {
        site: list(group)
        for site, group in groupby(sorted(streams, key=lambda each: each.key), lambda each: each.site)
    }
    relayed = {name.removeprefix(_RELAY) for name in components if name.startswith(_RELAY)}
    names = sorted({*by_site, *relayed, own_site})
    return [_health(name, name == own_site, by_site.get(name, []), status, components) for name in names]


def _health(
    name: str,
    own: bool,
    streams: list[StreamState],
    status: NodeStatus | None,
    components: dict[str, Component],
) -> SiteHealth:
    relay = components.get(f"{_RELAY}{name}")
    missing = sum(each.missing for each in streams)
    health, why = _judged(own, missing, status, relay)
    rates = [each.rate_per_s for each in streams if each.rate_per_s is not None]
    source = components.get(_LEDGER) if own else relay
    lag = (relay.figures.get("lag_records") or 0) if relay else 0
    return SiteHealth(
        name=name,
        own=own,
        health=health,
        why=why,
        rate_per_s=round(sum(rates), 1) if rates else None,
        delay_ms=source.figures.get("delay_ms") if source else None,
        backlog_records=max(lag, sum(each.under_way for each in streams)),
        missing=missing,
        streams=len(streams),
        last_origin_us=max((each.last_origin_us for each in streams), default=0),
    )


def _judged(
    own: bool, missing: int, status: NodeStatus | None, relay: Component | None
) -> tuple[Health, str]:
    if missing:
        return Health.BAD, f"{missing:,} records are missing"
    if own and status is None:
        return Health.BAD, "the node's supervisor does not answer"
    if own and status and not status.ready:
        waiting = [each.name for each in status.components if each.needed and each.state is not State.RUNNING]
        return Health.FAIR, f"not running: {', '.join(waiting)}"
    if relay and relay.state is not State.RUNNING:
        away = relay.state in (State.FAILED, State.RESTARTING)
        return Health.BAD if away else Health.FAIR, relay.detail or f"its relay is {relay.state}"
    return Health.WELL, ""
