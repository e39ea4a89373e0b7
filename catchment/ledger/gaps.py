"""Numbers that were missing for a while: since when, and when they came."""

import threading
import time
from collections.abc import Iterable, Iterator

from confluent_kafka import Message
from pydantic import BaseModel, Field, ValidationError

from catchment.config import Config
from catchment.kafka.clients import producer
from catchment.kafka.follower import TopicFollower, log
from catchment.kafka.parties import Party
from catchment.ledger.model import LedgerRow
from catchment.ledger.view import LedgerView
from catchment.records import Kind

# What is missing for a shorter time was only overtaken on its way.
LOOK_S = 5.0
CLOSED_KEPT = 10_000
_STOP_S = 2.0

Range = tuple[int, int]


class Gap(BaseModel, frozen=True):
    """Numbers of a source, from `first` to `last`, that have not come, or came late."""

    site: str
    gateway: str
    epoch: int
    stream: str
    first: int
    last: int
    opened_ms: int = Field(description="When they were first found missing.")
    closed_ms: int | None = Field(description="When they had come; null while they are missing.")

    @property
    def key(self) -> str:
        return (
            f"{self.site}/{self.gateway}/{self.epoch}/{self.stream}/{self.first}-{self.last}/{self.opened_ms}"
        )


class GapChange(BaseModel, frozen=True):
    """An entry of `gaps`, keyed by the source: what is missing of it now, and what has come since before."""

    missing: list[Gap]
    closed: list[Gap]


def follow_up(missing: Iterable[Gap], row: LedgerRow, settled: Iterable[Range], now_ms: int) -> GapChange:
    """What becomes of the gaps of a source when these numbers are missing.

    A gap that was filled in part is closed for that part; what is left is missing for as long as before.
    """
    known, ranges = list(missing), list(settled)
    still = []
    for first, last in ranges:
        since = [gap.opened_ms for gap in known if gap.first <= last and first <= gap.last]
        still.append(_gap(row, (first, last), min(since, default=now_ms), None))
    closed = [
        _gap(row, piece, gap.opened_ms, now_ms)
        for gap in known
        for piece in without((gap.first, gap.last), ranges)
    ]
    return GapChange(missing=still, closed=closed)


def common(one: Iterable[Range], other: Iterable[Range]) -> list[Range]:
    """The numbers that are in both of two lists of ranges."""
    others = list(other)
    pairs = ((max(a, c), min(b, d)) for a, b in one for c, d in others)
    return [(first, last) for first, last in pairs if first <= last]


def without(whole: Range, ranges: Iterable[Range]) -> Iterator[Range]:
    """What is left of a range when others are taken out of it."""
    first, last = whole
    for start, end in sorted(ranges):
        if start > first:
            yield first, min(last, start - 1)
        first = max(first, end + 1)
        if first > last:
            return
    yield first, last


class GapBook:
    """What is missing of every source, and the newest that came late."""

    def __init__(self, closed_kept: int = CLOSED_KEPT) -> None:
        self._closed_kept = closed_kept
        self._missing: dict[str, list[Gap]] = {}
        self._closed: dict[str, Gap] = {}
        self._lock = threading.Lock()

    def missing_of(self, source: str) -> list[Gap]:
        with self._lock:
            return list(self._missing.get(source, ()))

    def put(self, source: str, change: GapChange) -> None:
        with self._lock:
            self._missing[source] = change.missing
            self._closed.update((gap.key, gap) for gap in change.closed)
            while len(self._closed) > self._closed_kept:
                del self._closed[next(iter(self._closed))]

    def all(self) -> list[Gap]:
        """The one that opened last first."""
        with self._lock:
            gaps = [gap for those in self._missing.values() for gap in those] + list(self._closed.values())
        return sorted(gaps, key=lambda gap: (-gap.opened_ms, gap.key))


class GapKeeper:
    """Looks at the ledger every few seconds, and writes down what is missing and what came after all."""

    def __init__(self, config: Config, party: Party, ledger: LedgerView, book: GapBook) -> None:
        self._book = book
        self._ledger = ledger
        self._producer = producer(config, party)
        self._before: dict[str, list[Range]] = {}
        self._stopping = threading.Event()
        self._follower = TopicFollower(config, party, [Kind.GAPS.topic], self._take)
        self._thread = threading.Thread(target=self._run, name="gaps", daemon=True)

    def start(self) -> None:
        self._follower.start()
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._follower.stop()
        self._thread.join(_STOP_S)

    def _run(self) -> None:
        while not self._stopping.wait(LOOK_S):
            # Half of a ledger would be news of records that have gone missing.
            if self._ledger.caught_up and self._follower.caught_up:
                self._look(self._ledger.rows())

    def _look(self, rows: list[LedgerRow]) -> None:
        now_ms = time.time_ns() // 1_000_000
        for row in rows:
            source = row.source.identity.decode()
            before = self._before.get(source)
            self._before[source] = row.gaps
            if before is None:
                continue
            settled = common(row.gaps, before)
            missing = self._book.missing_of(source)
            if [(gap.first, gap.last) for gap in missing] != settled:
                change = follow_up(missing, row, settled, now_ms)
                self._book.put(source, change)
                self._producer.produce(Kind.GAPS.topic, change.model_dump_json(), source)
        self._producer.poll(0)

    def _take(self, messages: Iterable[Message]) -> None:
        for message in messages:
            try:
                change = GapChange.model_validate_json(message.value() or b"")
            except ValidationError as error:
                log.warning("an entry of %s is passed over: %s", Kind.GAPS.topic, error)
                continue
            # Later ones were made here, and are known.
            if not self._follower.caught_up:
                self._book.put((message.key() or b"").decode(), change)


def _gap(row: LedgerRow, numbers: Range, opened_ms: int, closed_ms: int | None) -> Gap:
    return Gap(
        site=row.site,
        gateway=row.gateway,
        epoch=row.epoch,
        stream=row.stream,
        first=numbers[0],
        last=numbers[1],
        opened_ms=opened_ms,
        closed_ms=closed_ms,
    )
