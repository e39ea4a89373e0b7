"""The proof that nothing was lost: what gateways accepted against what was counted at every hop."""

from collections import defaultdict
from collections.abc import Iterable

from pydantic import BaseModel, Field

from catchment.ledger.model import HopRow, LedgerRow, Mark, Stage
from catchment.records import Source

SUMS = ("sent", "received", "missing", "under_way", "duplicated", "out_of_order", "expired")
_STAGES = list(Stage)


class HopCount(BaseModel, frozen=True):
    """One source at one place on its way."""

    node: str = Field(description="The node, by the name of its site.")
    stage: Stage = Field(description="Where in the node it was counted.")
    received: int
    missing: int
    under_way: int
    duplicated: int
    out_of_order: int
    gaps: list[tuple[int, int]] = Field(
        description="The missing numbers as first and last, the hundred lowest."
    )


class StreamProof(BaseModel, frozen=True):
    """One source from the gateway to here."""

    site: str
    gateway: str
    epoch: int
    stream: str
    sent: int = Field(description="What the gateway accepted.")
    received: int = Field(description="What has been counted at this node.")
    missing: int
    under_way: int
    duplicated: int
    out_of_order: int
    expired: int = Field(0, description="In a recount: numbers that were counted before retention took them.")
    gaps: list[tuple[int, int]]
    rate_per_s: float
    last_origin_us: int
    hops: list[HopCount] = Field(description="In the order of the record's way; this node is the last.")


class Proof(BaseModel, frozen=True):
    """All sources, their sums, and whether everything that was sent has been received."""

    streams: list[StreamProof]
    sent: int
    received: int
    missing: int
    under_way: int
    duplicated: int
    out_of_order: int
    expired: int
    rate_per_s: float
    holds: bool


def compare(
    here: str,
    marks: Iterable[Mark],
    rows: Iterable[LedgerRow],
    hops: Iterable[HopRow] = (),
    expired: dict[Source, int] | None = None,
) -> Proof:
    """Joins marks, this node's ledger and the counts of other nodes by source.

    A record that is in the ledger but whose mark is not out yet counts as sent.
    """
    accepted = {mark.source: mark.accepted for mark in marks}
    newest: dict[Source, LedgerRow] = {}
    for row in rows:
        held = newest.get(row.source)
        if held is None or row.version >= held.version:
            newest[row.source] = row
    elsewhere: dict[Source, list[HopRow]] = defaultdict(list)
    for hop in hops:
        if hop.node != here:
            elsewhere[hop.source].append(hop)
    sources = sorted(accepted.keys() | newest.keys(), key=lambda source: source.identity)
    streams = [
        _prove(here, source, accepted.get(source, 0), newest.get(source), elsewhere[source], expired or {})
        for source in sources
    ]
    sums = {name: sum(getattr(stream, name) for stream in streams) for name in SUMS}
    holds = not sums["missing"] and not sums["under_way"]
    return Proof(streams=streams, holds=holds, rate_per_s=_rate_per_s(list(newest.values())), **sums)


def _prove(
    here: str,
    source: Source,
    accepted: int,
    row: LedgerRow | None,
    elsewhere: list[HopRow],
    expired: dict[Source, int],
) -> StreamProof:
    sent = max(accepted, row.highest if row else 0)
    on_the_way = sorted(elsewhere, key=lambda hop: _way(source, hop))
    own = _count(here, Stage.BROKER, sent, row)
    hops = [*(_count(hop.node, hop.stage, sent, hop) for hop in on_the_way), own]
    # A number that was lost is missing at every hop after that: it is one number all the same.
    worst = max(reversed(hops), key=lambda hop: hop.missing)
    return StreamProof(
        site=source.site,
        gateway=source.gateway,
        epoch=source.epoch,
        stream=source.stream,
        sent=sent,
        received=own.received,
        missing=worst.missing,
        under_way=own.under_way,
        duplicated=own.duplicated,
        out_of_order=own.out_of_order,
        expired=expired.get(source, 0),
        gaps=worst.gaps,
        rate_per_s=_rate_per_s([row] if row else []),
        last_origin_us=row.last_origin_us if row else 0,
        hops=hops,
    )


def _way(source: Source, hop: HopRow) -> tuple[bool, str, int]:
    """Where a hop stands on the way of a source: first its own site, and there the broker."""
    return hop.node != source.site, hop.node, _STAGES.index(hop.stage)


def _count(node: str, stage: Stage, sent: int, row: LedgerRow | None) -> HopCount:
    return HopCount(
        node=node,
        stage=stage,
        received=row.received if row else 0,
        missing=row.missing if row else 0,
        under_way=max(0, sent - (row.highest if row else 0)),
        duplicated=row.duplicates if row else 0,
        out_of_order=row.out_of_order if row else 0,
        gaps=row.gaps if row else [],
    )


def _rate_per_s(rows: list[LedgerRow]) -> float:
    """Records a second from the first that came to the last."""
    first_us = min((row.first_origin_us for row in rows), default=0)
    last_us = max((row.last_origin_us for row in rows), default=0)
    received = sum(row.received for row in rows)
    return round(received * 1e6 / (last_us - first_us), 1) if last_us > first_us else 0.0
