"""Streams as pages show them: what came to every hop, and rates from the difference between two looks."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice

from pydantic import BaseModel, Field

from catchment.ledger.model import Stage
from catchment.ledger.proof import StreamProof

# Between looks that are further apart a rate would be an average of the past, not what happens now.
LONGEST_STEP_S = 5.0
# More ranges than these help nobody on a page; the proof has more.
RANGES_SHOWN = 10

_RATE = Field(description="Records a second; null until there are two looks to compare.")


class Totals(BaseModel, frozen=True):
    """The ledger in one line."""

    accepted: int
    received: int
    missing: int
    under_way: int
    duplicates: int
    out_of_order: int
    rate_per_s: float | None = _RATE


class HopTotal(BaseModel, frozen=True):
    """How much of a stream has come to one place on its way."""

    node: str
    stage: Stage
    received: int


class MissingRange(BaseModel, frozen=True):
    """Numbers of a stream that have not come."""

    epoch: int
    first: int
    last: int


class StreamState(BaseModel, frozen=True):
    """A stream through one gateway, whatever the epoch."""

    site: str
    gateway: str
    stream: str
    accepted: int
    received: int
    missing: int
    under_way: int
    duplicates: int
    out_of_order: int
    hops: list[HopTotal] = Field(description="In the order of the record's way; this node is the last.")
    gaps: list[MissingRange] = Field(description="What is missing, the first ten ranges.")
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


def look(proofs: Iterable[StreamProof], at_s: float, before: Look | None) -> Look:
    """What is known now; rates against an earlier look, if that was not too long ago."""
    step_s = at_s - before.at_s if before else 0.0
    earlier = before if 0 < step_s <= LONGEST_STEP_S else None
    streams = {state.key: state for state in _streams(proofs, earlier, step_s)}
    return Look(at_s, _totals(streams.values(), earlier, step_s), streams)


def _streams(proofs: Iterable[StreamProof], earlier: Look | None, step_s: float) -> Iterator[StreamState]:
    by_stream = sorted(proofs, key=lambda each: (each.site, each.gateway, each.stream, each.epoch))
    for (site, gateway, stream), group in groupby(
        by_stream, lambda each: (each.site, each.gateway, each.stream)
    ):
        epochs = list(group)
        received = sum(each.received for each in epochs)
        rate_per_s = None
        if earlier:
            known = earlier.streams.get((site, gateway, stream))
            rate_per_s = _rate(received, known.received if known else 0, step_s)
        yield StreamState(
            site=site,
            gateway=gateway,
            stream=stream,
            accepted=sum(each.sent for each in epochs),
            received=received,
            missing=sum(each.missing for each in epochs),
            under_way=sum(each.under_way for each in epochs),
            duplicates=sum(each.duplicated for each in epochs),
            out_of_order=sum(each.out_of_order for each in epochs),
            hops=_hops(epochs),
            gaps=list(islice(_gaps(epochs), RANGES_SHOWN)),
            rate_per_s=rate_per_s,
            last_origin_us=max(each.last_origin_us for each in epochs),
        )


def _hops(epochs: list[StreamProof]) -> list[HopTotal]:
    received: Counter[tuple[str, Stage]] = Counter()
    for each in epochs:
        for hop in each.hops:
            received[hop.node, hop.stage] += hop.received
    # An epoch may not have come everywhere yet: the longest way has all hops in order.
    way = max((each.hops for each in epochs), key=len)
    return [HopTotal(node=hop.node, stage=hop.stage, received=received[hop.node, hop.stage]) for hop in way]


def _gaps(epochs: list[StreamProof]) -> Iterator[MissingRange]:
    for each in epochs:
        for first, last in each.gaps:
            yield MissingRange(epoch=each.epoch, first=first, last=last)


def _totals(streams: Iterable[StreamState], earlier: Look | None, step_s: float) -> Totals:
    states = list(streams)
    received = sum(state.received for state in states)
    return Totals(
        accepted=sum(state.accepted for state in states),
        received=received,
        missing=sum(state.missing for state in states),
        under_way=sum(state.under_way for state in states),
        duplicates=sum(state.duplicates for state in states),
        out_of_order=sum(state.out_of_order for state in states),
        rate_per_s=_rate(received, earlier.totals.received, step_s) if earlier else None,
    )


def _rate(now: int, before: int, step_s: float) -> float:
    # A ledger that starts afresh counts from the beginning: that is not a negative rate.
    return round(max(0, now - before) / step_s, 1)
