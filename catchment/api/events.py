"""What a live page is told: a snapshot first, then the difference to it, second by second."""

from pydantic import BaseModel, Field

from catchment.api.rates import StreamState, Totals
from catchment.api.site_health import SiteHealth
from catchment.node.status import NodeStatus


class RatePoint(BaseModel, frozen=True):
    """The rate of all streams together at one moment."""

    at_ms: int
    rate_per_s: float | None


class AlertCounts(BaseModel, frozen=True):
    """How many alerts there are to look at."""

    open: int
    unacknowledged: int = Field(description="Open ones that nobody has taken note of.")
    changed: int = Field(description="Grows with everything that happens to alerts: ask for them again then.")


class Snapshot(BaseModel, frozen=True):
    """The event `snapshot`: all there is to show."""

    at_ms: int
    ledger_current: bool = Field(description="Whether the whole ledger has been read.")
    status: NodeStatus | None = Field(description="Null while the supervisor does not answer.")
    totals: Totals
    sites: list[SiteHealth]
    alerts: AlertCounts
    streams: list[StreamState]
    history: list[RatePoint] = Field(description="The last five minutes, as far as pages were open.")


class Delta(BaseModel, frozen=True):
    """The event `delta`: what is different from before."""

    at_ms: int
    ledger_current: bool
    status: NodeStatus | None = Field(
        default=None, description="Absent when nothing but running times changed."
    )
    totals: Totals
    sites: list[SiteHealth]
    alerts: AlertCounts
    streams: list[StreamState] = Field(description="Only those that changed.")


def difference(before: Snapshot, after: Snapshot) -> Delta:
    """The delta that turns one snapshot into the next."""
    known = {state.key: state for state in before.streams}
    changed = [state for state in after.streams if state != known.get(state.key)]
    status_changed = _lasting(before.status) != _lasting(after.status)
    return Delta(
        at_ms=after.at_ms,
        ledger_current=after.ledger_current,
        totals=after.totals,
        sites=after.sites,
        alerts=after.alerts,
        streams=changed,
        **({"status": after.status} if status_changed else {}),
    )


def encode(event: Snapshot | Delta) -> bytes:
    """The event as it goes over the line."""
    name = type(event).__name__.lower()
    data = event.model_dump_json(exclude=type(event).model_fields.keys() - event.model_fields_set)
    return f"event: {name}\ndata: {data}\n\n".encode()


def _lasting(status: NodeStatus | None) -> NodeStatus | None:
    """The status without the running times, which pages count on by themselves."""
    if status is None:
        return None
    components = [component.model_copy(update={"uptime_s": 0}) for component in status.components]
    return status.model_copy(update={"components": components})
