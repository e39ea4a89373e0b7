"""Message rates, from the difference between two looks at the ledger."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from pydantic import BaseModel, Field

from catchment.ledger.model import LedgerRow

# Between looks that are further apart a rate would be an average of the past, not what happens now.
LONGEST_STEP_S = 5.0

_RATE = Field(description="Records a second; null until there are two looks to compare.")


class Totals(BaseModel, frozen=True):
    """The ledger in one line."""

    received: int
    missing: int
    duplicates: int
    out_of_order: int
    rate_per_s: float | None = _RATE


class StreamState(BaseModel, frozen=True):
    """A stream through one gateway, whatever the epoch."""

    site: str
    gateway: str
    stream: str
    received: int
    missing: int
    duplicates: int
    out_of_order: int
    rate_per_s: float | None = _RATE
    last_origin_us: int = Field(description="When its latest record began its way, in µs since 1970.")

    @property
    def key(self) -> tuple[str, str, str]:
        return self.site, self.gateway, self.stream


@dataclass(frozen=True)
class Look:
    """The ledger at one moment, with rates."""

    at_s: float
    totals: Totals
    streams: dict[tuple[str, str, str], StreamState]


def look(rows: Iterable[LedgerRow], at_s: float, before: Look | None) -> Look:
    """What the ledger says now; rates against an earlier look, if that was not too long ago."""
    step_s = at_s - before.at_s if before else 0.0
    earlier = before if 0 < step_s <= LONGEST_STEP_S else None
    streams = {state.key: state for state in _streams(rows, earlier, step_s)}
    return Look(at_s, _totals(streams.values(), earlier, step_s), streams)


def _streams(rows: Iterable[LedgerRow], earlier: Look | None, step_s: float) -> Iterator[StreamState]:
    for (site, gateway, stream), group in groupby(rows, lambda row: (row.site, row.gateway, row.stream)):
        epochs = list(group)
        received = sum(row.received for row in epochs)
        rate_per_s = None
        if earlier:
            known = earlier.streams.get((site, gateway, stream))
            rate_per_s = _rate(received, known.received if known else 0, step_s)
        yield StreamState(
            site=site,
            gateway=gateway,
            stream=stream,
            received=received,
            missing=sum(row.missing for row in epochs),
            duplicates=sum(row.duplicates for row in epochs),
            out_of_order=sum(row.out_of_order for row in epochs),
            rate_per_s=rate_per_s,
            last_origin_us=max(row.last_origin_us for row in epochs),
        )


def _totals(streams: Iterable[StreamState], earlier: Look | None, step_s: float) -> Totals:
    states = list(streams)
    received = sum(state.received for state in states)
    return Totals(
        received=received,
        missing=sum(state.missing for state in states),
        duplicates=sum(state.duplicates for state in states),
        out_of_order=sum(state.out_of_order for state in states),
        rate_per_s=_rate(received, earlier.totals.received, step_s) if earlier else None,
    )


def _rate(now: int, before: int, step_s: float) -> float:
    # A ledger that starts afresh counts from the beginning: that is not a negative rate.
    return round(max(0, now - before) / step_s, 1)
