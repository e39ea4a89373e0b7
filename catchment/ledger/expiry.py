"""What retention has taken from the beginning of a source: no loss, if it had been counted before."""

import time
from collections.abc import Iterable

from catchment.config import Config
from catchment.kafka.topics import planned
from catchment.ledger.model import LedgerRow
from catchment.records import FIRST_SEQUENCE, Kind

HOUR_US = 3_600_000_000

Range = tuple[int, int]


def oldest_kept_us(config: Config) -> int:
    """What is older than this, the topic of records has deleted, or will soon."""
    hours = planned(config)[Kind.RECORDS].retention_hours or 0
    return time.time_ns() // 1000 - round(hours * HOUR_US)


def without_expired(
    gaps: list[Range], counted: LedgerRow | None, kept_since_us: int
) -> tuple[list[Range], int]:
    """Gaps without the numbers that were counted and have expired since, and how many those are.

    Only the beginning of a source that is older than what is kept can have expired.
    """
    if counted is None or counted.first_origin_us >= kept_since_us:
        return gaps, 0
    if not gaps or gaps[0][0] != FIRST_SEQUENCE:
        return gaps, 0
    (_, last), *others = gaps
    never_came = non_empty((first, min(end, last)) for first, end in counted.gaps)
    return never_came + others, last - size(never_came)


def non_empty(ranges: Iterable[Range]) -> list[Range]:
    return [(first, last) for first, last in ranges if first <= last]


def size(ranges: Iterable[Range]) -> int:
    return sum(last - first + 1 for first, last in ranges)
