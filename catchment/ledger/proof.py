"""The proof that nothing was lost: what gateways accepted against what was counted at every hop."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from pydantic import BaseModel, Field

from catchment.ledger.expiry import without_expired
from catchment.ledger.model import HopRow, LedgerRow, Mark, Stage
from catchment.records import Source

SUMS = ("sent", "received", "missing", "under_way", "duplicated", "out_of_order", "expired")
_STAGES = list(Stage)
# Not every record becomes a measurement: what is under way there is not what is not there.
_OF_MEASUREMENTS = frozenset({Stage.POSTGRES})


class HopCount(BaseModel, frozen=True):
    """One source at one place on its way."""

    node: str = Field(description="The node, by the name of its site.")
    stage: Stage = Field(description="Where in the node it was counted.")
    received: int
    missing: int
    under_way: int
    duplicated: int
    out_of_order: int
    expired: int = Field(0, description="Of a lake: what retention took before the lake was there.")
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
    expired: int = Field(
        0,
        description="Numbers that were counted before retention took them: from the log, in a recount, or "
        "before a lake was there to read them.",
    )
    gaps: list[tuple[int, int]]
    rate_per_s: float
    last_origin_us: int
    hops: list[HopCount] = Field(
        description="In the order of the record's way; the stages of this node are the last."
    )


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
    stages: Collection[Stage] = (),
    waiting: Mapping[Source, int] | None = None,
    kept_since_us: int = 0,
    running: Iterable[LedgerRow] = (),
) -> Proof:
    """Joins marks, this node's ledger and the counts of other nodes and stages by source.

    A record that is in the ledger but whose mark is not out yet counts as sent. `stages` are those behind
    this node's broker that every source has to come to, whether they have said so or not. `waiting` is how
    many measurements are under way to its fast stores. What is older than `kept_since_us` may have expired.
    `running` is the ledger itself where `rows` are a recount.
    """
    accepted = {mark.source: mark.accepted for mark in marks}
    newest: dict[Source, LedgerRow] = {}
    for row in rows:
        held = newest.get(row.source)
        if held is None or row.version >= held.version:
            newest[row.source] = row
    counted = {**newest, **{row.source: row for row in running}}
    published: dict[Source, list[HopRow]] = defaultdict(list)
    for hop in hops:
        published[hop.source].append(hop)
    sources = sorted(accepted.keys() | newest.keys(), key=lambda source: source.identity)
    streams = []
    for source in sources:
        known = newest.get(source)
        sent = max(accepted.get(source, 0), known.highest if known else 0)
        way = _way(here, source, sent, known, published[source], stages, (waiting or {}).get(source, 0))
        way = _without_expired(way, _brokers(here, counted.get(source), published[source]), kept_since_us)
        streams.append(_prove(here, source, sent, known, way, (expired or {}).get(source, 0)))
    sums = {name: sum(getattr(stream, name) for stream in streams) for name in SUMS}
    incomplete = any(hop.under_way for stream in streams for hop in stream.hops if hop.node == here)
    holds = not sums["missing"] and not incomplete
    return Proof(streams=streams, holds=holds, rate_per_s=_rate_per_s(list(newest.values())), **sums)


def _way(
    here: str,
    source: Source,
    sent: int,
    row: LedgerRow | None,
    published: list[HopRow],
    stages: Collection[Stage],
    waiting: int,
) -> list[HopCount]:
    """Every hop in order: first those of the source's own site, and last those of this node."""
    elsewhere = sorted(
        (hop for hop in published if hop.node != here),
        key=lambda hop: (hop.node != source.site, hop.node, _STAGES.index(hop.stage)),
    )
    # Of this node's broker the ledger itself is newer than what was published of it.
    # Of several stores of a stage the one that has least counts.
    own_hops = sorted((hop for hop in published if hop.node == here), key=lambda hop: -hop.received)
    behind = {hop.stage: hop for hop in own_hops}
    expected = {*stages, *(_OF_MEASUREMENTS if waiting else ())}
    own = [stage for stage in _STAGES[1:] if stage in behind or stage in expected]
    return [
        *(_count(hop.node, hop.stage, sent, hop) for hop in elsewhere),
        _count(here, Stage.BROKER, sent, row),
        *(_count(here, stage, sent, behind.get(stage), waiting) for stage in own),
    ]


def _brokers(here: str, row: LedgerRow | None, published: list[HopRow]) -> dict[str, LedgerRow]:
    """What was counted on the broker of each node."""
    counted: dict[str, LedgerRow] = {hop.node: hop for hop in published if hop.stage is Stage.BROKER}
    return {**counted, here: row} if row else counted


def _without_expired(
    way: list[HopCount], brokers: Mapping[str, LedgerRow], kept_since_us: int
) -> list[HopCount]:
    """A lake cannot have what its broker had deleted before the lake's first start."""
    return [
        _expire(hop, brokers[hop.node], kept_since_us)
        if hop.stage is Stage.LAKE and hop.node in brokers
        else hop
        for hop in way
    ]


def _expire(hop: HopCount, counted: LedgerRow, kept_since_us: int) -> HopCount:
    nothing_came = hop.received == 0 and counted.last_origin_us < kept_since_us
    if nothing_came:
        return hop.model_copy(
            update={
                "under_way": 0,
                "missing": counted.missing,
                "gaps": counted.gaps,
                "expired": counted.received,
            }
        )
    gaps, expired = without_expired(hop.gaps, counted, kept_since_us)
    return hop.model_copy(update={"gaps": gaps, "missing": hop.missing - expired, "expired": expired})


def _prove(
    here: str, source: Source, sent: int, row: LedgerRow | None, hops: list[HopCount], expired: int
) -> StreamProof:
    (own,) = (hop for hop in hops if hop.node == here and hop.stage is Stage.BROKER)
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
        expired=max(expired, *(hop.expired for hop in hops)),
        gaps=worst.gaps,
        rate_per_s=_rate_per_s([row] if row else []),
        last_origin_us=row.last_origin_us if row else 0,
        hops=hops,
    )


def _count(node: str, stage: Stage, sent: int, row: LedgerRow | None, waiting: int = 0) -> HopCount:
    absent = max(0, sent - (row.highest if row else 0))
    return HopCount(
        node=node,
        stage=stage,
        received=row.received if row else 0,
        missing=row.missing if row else 0,
        under_way=waiting if stage in _OF_MEASUREMENTS else absent,
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
