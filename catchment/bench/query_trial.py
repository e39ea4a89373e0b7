"""One query by one subject: from a backlog, then at an even pace. Results that are not exact are refused.

The broker notes when it wrote each result, and each carries the origin of the record that caused it; so all
is worked out in the end from what stands on the topic.
"""

import time
from array import array
from collections.abc import Callable, Iterable

import orjson

from catchment.bench.query_load import Sender
from catchment.bench.query_subjects import CATCHMENT, START_S, Subject
from catchment.bench.query_work import Results, Work, wrong_in
from catchment.bench.result import Result
from catchment.bench.site import wait_for
from catchment.bench.topics import Output, Row
from catchment.bench.twin_trial import HALF_MS, SETTLING_SHARE, note_delays, now_us, rate_per_s
from catchment.config import Config
from catchment.errors import PartFailed
from catchment.records import ORIGIN_HEADER, STAMP_HEADER, VERSION_HEADER, Stamp

SLOWEST_PER_S = 500
# So long nothing more has to come before results are looked at whose number cannot be known.
QUIET_S = 2.0
LOOK_S = 0.2


class Seen:
    """Results as they were written: the newest of each, and the times of all."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._newest: dict[bytes, tuple[int, bytes | None]] = {}
        self.origins_us = array("q")
        self.written_ms = array("q")

    def add(self, row: Row) -> None:
        headers = dict(row.headers)
        key = row.key or b""
        version = int(headers.get(VERSION_HEADER, len(self.written_ms)))
        if version >= self._newest.get(key, (-1, b""))[0]:
            self._newest[key] = (version, row.value)
        self.origins_us.append(origin_us(headers))
        self.written_ms.append(row.written_ms)

    def results(self) -> Results:
        """What stands in the end."""
        values = (value for _, value in self._newest.values() if value is not None)
        return dict(self._work.result(orjson.loads(value)) for value in values)

    def written_between(self, began_us: int, ended_us: int) -> list[int]:
        """When the results of records of that time were written."""
        return [written for origin, written in self._times() if began_us <= origin <= ended_us]

    def delays_ms(self, since_us: int) -> list[float]:
        """Delays of results of later records in order, without those of the first part."""
        settled = sorted((origin, written) for origin, written in self._times() if origin >= since_us)
        settled = settled[int(len(settled) * SETTLING_SHARE) :]
        return sorted(max(0.0, written + HALF_MS - origin / 1000) for origin, written in settled)

    def _times(self) -> Iterable[tuple[int, int]]:
        return zip(self.origins_us, self.written_ms, strict=True)


def origin_us(headers: dict[str, bytes]) -> int:
    """When the record behind a result was sent: Catchment says so, the others hand the stamp on."""
    if (said := headers.get(ORIGIN_HEADER)) is not None:
        return int(said)
    return Stamp.decode(headers[STAMP_HEADER]).origin_us


def figure_of(subject: str, work: Work) -> str:
    """What the figures of a query are called: those of peers have their name before it."""
    return work.figure if subject == CATCHMENT else f"{subject}_{work.figure}"


class Trial:
    """A query of a subject that begins from nothing."""

    def __init__(self, site: Config, sender: Sender, subject: Subject, work: Work) -> None:
        self._site = site
        self._sender = sender
        self._subject = subject
        self._work = work
        self._seen = Seen(work)

    def run(self, result: Result, backlog: int, paced_per_s: int, paced_s: float) -> None:
        """Notes how fast it was, and how long results took."""
        self._sender.restart([self._work.load])
        began_us = now_us()
        self._sender.fill(backlog)
        filled_us = now_us()
        if self._subject.compiles:
            self._warm_up()
        output = Output(self._site, self._subject.begin(self._work.name))
        try:
            self._wait(output)
            paced_us = now_us()
            self._sender.pace(paced_per_s, paced_s)
            self._wait(output)
        finally:
            self._subject.end()
        name = figure_of(self._subject.name, self._work)
        written_ms = self._seen.written_between(began_us, filled_us)
        # One record causes several results, or only some do.
        records_per_s = rate_per_s(written_ms) * backlog / len(written_ms)
        result.add(f"rate_{name}", records_per_s, "records/s")
        note_delays(result, f"delay_{name}_{paced_per_s}", self._seen.delays_ms(paced_us))

    def _warm_up(self) -> None:
        """Takes the backlog once without being measured, and then begins from nothing."""
        output = Output(self._site, self._subject.begin(self._work.name))
        try:
            self._wait(output)
        finally:
            self._subject.end()
        self._seen = Seen(self._work)

    def _wait(self, output: Output) -> None:
        """Returns when all results are there and right."""
        sent = self._sender.sent[self._work.load.name]
        expected = self._work.expected(sent, self._sender.start_ms)
        wait_until_right(
            lambda: self._look(output, sent),
            lambda: wrong_in(self._seen.results(), expected),
            self._subject.check,
            START_S + sent / SLOWEST_PER_S,
            f"{self._subject.name} in {self._work.name}",
        )

    def _look(self, output: Output, sent: int) -> None:
        """Waits for as many as have to come, or until nothing more does; then takes them."""
        told = self._work.told(sent)
        there = len(self._seen.written_ms)
        enough = Stillness(output, there, told)
        wait_for(enough.reached, self._subject.check, START_S + sent / SLOWEST_PER_S, poll_s=LOOK_S)
        for row in output.take():
            self._seen.add(row)


class Stillness:
    """Whether so many results are there, or some and for a while no more."""

    def __init__(self, output: Output, there: int, wanted: int | None) -> None:
        self._output = output
        self._there = self._last = there
        self._wanted = wanted
        self._since_s = time.monotonic()

    def reached(self) -> bool:
        count = self._there + self._output.count()
        if self._wanted is not None and count >= self._wanted:
            return True
        if count != self._last:
            self._last, self._since_s = count, time.monotonic()
        return count > 0 and time.monotonic() - self._since_s > QUIET_S


def wait_until_right(
    look: Callable[[], None],
    wrong: Callable[[], list[str]],
    check: Callable[[], None],
    timeout_s: float,
    whose: str,
) -> None:
    """Looks until nothing is wrong; refuses when something still is after so long."""
    deadline_s = time.monotonic() + timeout_s
    while True:
        look()
        found = wrong()
        if not found:
            return
        check()
        if time.monotonic() > deadline_s:
            raise PartFailed(f"{whose} has wrong results: {'; '.join(found)}", "Look into its results.")
