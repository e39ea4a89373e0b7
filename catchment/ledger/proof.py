"""The proof that nothing was lost: what gateways accepted against what the ledger received."""

from collections.abc import Iterable

from pydantic import BaseModel

from catchment.ledger.model import LedgerRow, Mark
from catchment.records import Source


class StreamProof(BaseModel, frozen=True):
    """One source at both ends."""

    site: str
    gateway: str
    epoch: int
    stream: str
    sent: int
    received: int
    missing: int
    under_way: int
    duplicated: int
    out_of_order: int
    gaps: list[tuple[int, int]]
    rate_per_s: float


class Proof(BaseModel, frozen=True):
    """All sources, their sums, and whether everything that was sent has been received."""

    streams: list[StreamProof]
    sent: int
    received: int
    missing: int
    under_way: int
    duplicated: int
    out_of_order: int
    rate_per_s: float
    holds: bool


SUMS = ("sent", "received", "missing", "under_way", "duplicated", "out_of_order")


def compare(marks: Iterable[Mark], rows: Iterable[LedgerRow]) -> Proof:
    """Joins marks and ledger by source.

    A record that Kafka has confirmed but whose mark is not out yet counts as sent: it is in the ledger.
    """
    accepted = {mark.source: mark.accepted for mark in marks}
    newest: dict[Source, LedgerRow] = {}
    for row in rows:
        held = newest.get(row.source)
        if held is None or row.version >= held.version:
            newest[row.source] = row
    sources = sorted(accepted.keys() | newest.keys(), key=lambda source: source.identity)
    streams = [_prove(source, accepted.get(source, 0), newest.get(source)) for source in sources]
    sums = {name: sum(getattr(stream, name) for stream in streams) for name in SUMS}
    holds = not sums["missing"] and not sums["under_way"]
    return Proof(streams=streams, holds=holds, rate_per_s=_rate_per_s(list(newest.values())), **sums)


def _prove(source: Source, accepted: int, row: LedgerRow | None) -> StreamProof:
    highest = row.highest if row else 0
    return StreamProof(
        site=source.site,
        gateway=source.gateway,
        epoch=source.epoch,
        stream=source.stream,
        sent=max(accepted, highest),
        received=row.received if row else 0,
        missing=row.missing if row else 0,
        under_way=max(0, accepted - highest),
        duplicated=row.duplicates if row else 0,
        out_of_order=row.out_of_order if row else 0,
        gaps=row.gaps if row else [],
        rate_per_s=_rate_per_s([row] if row else []),
    )


def _rate_per_s(rows: list[LedgerRow]) -> float:
    """Records a second from the first that came to the last."""
    first_us = min((row.first_origin_us for row in rows), default=0)
    last_us = max((row.last_origin_us for row in rows), default=0)
    received = sum(row.received for row in rows)
    return round(received * 1e6 / (last_us - first_us), 1) if last_us > first_us else 0.0
