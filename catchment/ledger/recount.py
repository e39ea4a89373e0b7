"""Counting anew from the log itself, without trusting the running counts: a second account in other words.

The log forgets: what retention deleted is not missing if the ledger had counted it before. Numbers that are
gone from the beginning of a source count as expired when the source is older than what its topic keeps, and
as missing otherwise.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from confluent_kafka import Message

from catchment.config import Config
from catchment.errors import InvalidRecord
from catchment.kafka.clients import read_all
from catchment.kafka.parties import Party
from catchment.ledger.expiry import Range, non_empty, oldest_kept_us, size, without_expired
from catchment.ledger.model import LedgerRow
from catchment.records import STAMP_HEADER, Kind, Source, Stamp

RANGES_SHOWN = 100
PROGRESS_RECORDS = 10_000


@dataclass
class Count:
    """The numbers of one source that stand in the log."""

    received: int = 0
    highest: int = 0
    duplicates: int = 0
    out_of_order: int = 0
    first_origin_us: int = 2**63 - 1
    last_origin_us: int = 0
    gaps: list[Range] = field(default_factory=list)

    def add(self, sequence: int, origin_us: int) -> None:
        """Counts one record."""
        if sequence > self.highest:
            self.open_to(sequence - 1)
            self.highest = sequence
        elif self._fill(sequence):
            self.out_of_order += 1
        else:
            self.duplicates += 1
            return
        self.received += 1
        self.first_origin_us = min(self.first_origin_us, origin_us)
        self.last_origin_us = max(self.last_origin_us, origin_us)

    def open_to(self, last: int) -> None:
        """Notes that all numbers after the highest are missing, up to `last`."""
        if last > self.highest:
            self.gaps.append((self.highest + 1, last))
            self.highest = last

    def _fill(self, sequence: int) -> bool:
        place = bisect_right(self.gaps, (sequence, 2**63)) - 1
        if place < 0 or self.gaps[place][1] < sequence:
            return False
        first, last = self.gaps[place]
        self.gaps[place : place + 1] = non_empty([(first, sequence - 1), (sequence + 1, last)])
        return True


def recount(
    config: Config, party: Party, running: Iterable[LedgerRow], on_progress: Callable[[int], None]
) -> tuple[list[LedgerRow], dict[Source, int]]:
    """What the log holds of every source, and what of it has expired. `running` was read before."""
    before = {row.source: row for row in running}
    counts = count(read_all(config, party, Kind.RECORDS.topic), on_progress)
    kept_since_us = oldest_kept_us(config)
    expired: dict[Source, int] = {}
    rows = []
    for source in counts.keys() | before.keys():
        own = counts.get(source, Count())
        expired[source] = settle(own, before.get(source), kept_since_us)
        rows.append(_row(source, own))
    return rows, expired


def count(records: Iterable[Message], on_progress: Callable[[int], None]) -> dict[Source, Count]:
    """Counts records by their stamps; those without one are dead letters, and counted nowhere."""
    counts: dict[Source, Count] = {}
    unsaid = 0
    for record in records:
        stamp = stamp_of(record)
        if stamp:
            counts.setdefault(stamp.source, Count()).add(stamp.sequence, stamp.origin_us)
        unsaid += 1
        if unsaid == PROGRESS_RECORDS:
            on_progress(unsaid)
            unsaid = 0
    on_progress(unsaid)
    return counts


def settle(counted: Count, running: LedgerRow | None, kept_since_us: int) -> int:
    """Adds to the gaps what only the ledger knows of, takes out what has expired, and says how much it is."""
    if running is None:
        return 0
    counted.open_to(running.highest)
    counted.gaps, expired = without_expired(counted.gaps, running, kept_since_us)
    return expired


def _row(source: Source, counted: Count) -> LedgerRow:
    return LedgerRow(
        site=source.site,
        gateway=source.gateway,
        epoch=source.epoch,
        stream=source.stream,
        version=counted.received + counted.duplicates,
        received=counted.received,
        highest=counted.highest,
        duplicates=counted.duplicates,
        out_of_order=counted.out_of_order,
        missing=size(counted.gaps),
        gaps=counted.gaps[:RANGES_SHOWN],
        first_origin_us=counted.first_origin_us if counted.received else 0,
        last_origin_us=counted.last_origin_us,
    )


def stamp_of(record: Message) -> Stamp | None:
    """The stamp of a record, if it has a valid one."""
    header = dict(record.headers() or []).get(STAMP_HEADER)
    try:
        return Stamp.decode(header) if isinstance(header, bytes) else None
    except InvalidRecord:
        return None
