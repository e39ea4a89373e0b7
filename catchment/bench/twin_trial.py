"""How one subject applies changes: as fast as it goes, at given rates, and after it was killed.

Every change says when it began its way, and the broker notes when its result was written. So all is
worked out in the end from what stands on the changelog, which is also checked against what was sent.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import orjson

from catchment.bench.result import Result, percentile
from catchment.bench.topics import Output, Row
from catchment.bench.twin_load import Changes
from catchment.bench.twin_subjects import Subject, check, cpu_s
from catchment.config import Config
from catchment.errors import PartFailed
from catchment.node.process import Child
from catchment.simulate.twins import COUNT

BACKLOG, KILLED = "backlog", "killed"
# The share of a backlog that warms a subject up, and of a pace that lets it settle.
WARM_UP_SHARE = 0.4
SETTLING_SHARE = 0.25
START_S = 90.0
SLOWEST_PER_S = 2_000
# The broker's times are cut to whole milliseconds.
HALF_MS = 0.5


@dataclass(frozen=True)
class Applied:
    """A row of the changelog: which object, how often it was changed, and when it began and was written."""

    key: str
    count: int
    origin_us: int
    written_ms: int

    @property
    def delay_ms(self) -> float:
        return max(0.0, self.written_ms + HALF_MS - self.origin_us / 1000)


def applied(rows: Iterable[Row]) -> list[Applied]:
    """The changelog as it was written."""
    found = []
    for row in rows:
        twin = orjson.loads(row.value or b"null")
        if twin:
            key = f"{twin['site']}/{twin['id']}"
            found.append(Applied(key, twin["values"][COUNT], int(twin["transaction"]), row.written_ms))
    return found


def first_only(rows: Iterable[Applied]) -> list[Applied]:
    """Without what came again after a crash."""
    first: dict[tuple[str, int], Applied] = {}
    for row in rows:
        first.setdefault((row.key, row.origin_us), row)
    return list(first.values())


def rate_per_s(written_ms: Sequence[int]) -> float:
    """Rows a second once it is warm, from the broker's times."""
    ordered = sorted(written_ms)
    warm = ordered[int(len(ordered) * WARM_UP_SHARE) :]
    return (len(warm) - 1) * 1000 / max(1, warm[-1] - warm[0])


def settled_delays_ms(rows: Iterable[Applied]) -> list[float]:
    """Delays in order, without those of the first part of the time."""
    ordered = sorted(rows, key=lambda row: row.origin_us)
    return sorted(row.delay_ms for row in ordered[int(len(ordered) * SETTLING_SHARE) :])


@dataclass
class Phase:
    """What was sent between two moments."""

    began_us: int = field(default_factory=lambda: now_us())
    ended_us: int = 0

    def of(self, rows: Iterable[Applied]) -> list[Applied]:
        return [row for row in rows if self.began_us <= row.origin_us <= self.ended_us]


class Trial:
    """One subject, from a backlog in the topic on."""

    def __init__(self, site: Config, subject: Subject, changes: Changes) -> None:
        self._site = site
        self._subject = subject
        self._changes = changes
        self._changelog, self._history = Output(site, subject.changelog), Output(site, subject.history)
        self._phases: dict[str, Phase] = {}
        self._cpu_us: float = 0.0
        self._child: Child | None = None

    def run(self, backlog: int, rates_per_s: Sequence[int], paced_s: float, *, killed: bool) -> None:
        """Lets it apply a backlog, then changes at each of the rates, and kills it at the last."""
        self._changes.restart()
        with self._phase(BACKLOG):
            self._changes.fill(backlog)
        self._child = self._subject.start()
        try:
            self._drain(backlog)
            for rate in rates_per_s:
                with self._phase(f"{rate}"):
                    self._changes.pace(rate, paced_s)
                self._wait(self._changes.sent)
            if killed:
                self._kill()
        finally:
            self._child.kill()

    def note(self, result: Result) -> None:
        """What it came to."""
        name, written = self._subject.name, applied(self._changelog.rows())
        self._check(written)
        rows = first_only(written)
        backlog = [row.written_ms for row in self._phases.pop(BACKLOG).of(rows)]
        history = [row.written_ms for row in self._history.rows()[: len(backlog)]]
        result.add(f"rate_{name}", min(rate_per_s(backlog), rate_per_s(history)), "objects/s")
        result.add(f"cpu_{name}", self._cpu_us, "µs/object")
        if killed := self._phases.pop(KILLED, None):
            recovered_ms = max(row.written_ms for row in killed.of(rows))
            result.add(f"recovery_{name}", recovered_ms / 1000 - killed.began_us / 1e6, "s")
        for rate, phase in self._phases.items():
            note_delays(result, f"delay_{name}_{rate}", settled_delays_ms(phase.of(rows)))

    def _drain(self, backlog: int) -> None:
        """Waits for the backlog to be applied, and measures its cost from the warm part on."""
        assert self._child
        self._wait(round(WARM_UP_SHARE * backlog))
        before, used_s = self._history.count(), cpu_s(self._child.pid)
        self._wait(backlog)
        self._cpu_us = (cpu_s(self._child.pid) - used_s) * 1e6 / max(1, self._history.count() - before)

    def _kill(self) -> None:
        """Kills it without a word, starts it again, and waits until each object was changed once more."""
        assert self._child
        self._child.kill()
        with self._phase(KILLED) as phase:
            self._child = self._subject.start()
            self._changes.fill(len(self._changes.counts))
        waiting = set(self._changes.counts)

        def is_last(row: Row) -> bool:
            waiting.difference_update(each.key for each in applied([row]) if each.origin_us >= phase.began_us)
            return not waiting

        self._changelog.follow(is_last, self._check_running, START_S)

    def _wait(self, count: int) -> None:
        for output in (self._changelog, self._history):
            output.wait(count, self._check_running, START_S + count / SLOWEST_PER_S)

    def _check_running(self) -> None:
        assert self._child
        check(self._site, self._subject.name, self._child)

    @contextmanager
    def _phase(self, name: str) -> Iterator[Phase]:
        phase = self._phases[name] = Phase()
        yield phase
        phase.ended_us = now_us()

    def _check(self, rows: Iterable[Applied]) -> None:
        """Every object was changed as often as it was to be: nothing was lost, nothing came twice."""
        reached = {row.key: row.count for row in rows}
        if reached != self._changes.counts:
            wrong = sum(reached.get(key) != count for key, count in self._changes.counts.items())
            raise PartFailed(
                f"{self._subject.name} has {wrong} objects in a wrong state", "Look into its changelog."
            )


def note_delays(result: Result, name: str, ordered_ms: list[float]) -> None:
    """Median and 99th percentile."""
    for label, share in (("p50", 0.5), ("p99", 0.99)):
        result.add(f"{name}_{label}", percentile(ordered_ms, share), "ms")


def now_us() -> int:
    return time.time_ns() // 1000
