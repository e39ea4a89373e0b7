"""The proof that nothing was lost: what gateways accepted against what the ledger received."""

from collections.abc import Iterable

from pydantic import BaseModel, computed_field

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
    """All sources, and whether everything that was sent has been received."""

    streams: list[StreamProof]

    @computed_field
    def sent(self) -> int:
        return sum(stream.sent for stream in self.streams)

    @computed_field
    def received(self) -> int:
        return sum(stream.received for stream in self.streams)

    @computed_field
    def missing(self) -> int:
        return sum(stream.missing for stream in self.streams)

    @computed_field
    def under_way(self) -> int:
        return sum(stream.under_way for stream in self.streams)

    @computed_field
    def duplicated(self) -> int:
        return sum(stream.duplicated for stream in self.streams)

    @computed_field
    def out_of_order(self) -> int:
        return sum(stream.out_of_order for stream in self.streams)

    @computed_field
    def rate_per_s(self) -> float:
        return round(sum(stream.rate_per_s for stream in self.streams), 1)

    @computed_field
    def holds(self) -> bool:
        return all(stream.missing == 0 and stream.under_way == 0 for stream in self.streams)


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
    return Proof(streams=[_prove(source, accepted.get(source, 0), newest.get(source)) for source in sources])


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
        rate_per_s=_rate_per_s(row) if row else 0.0,
    )


def _rate_per_s(row: LedgerRow) -> float:
    seconds = (row.last_origin_us - row.first_origin_us) / 1e6
    return round(row.received / seconds, 1) if seconds > 0 else 0.0
