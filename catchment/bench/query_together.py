"""Eight of Catchment's queries side by side: whether any falls behind, and how long results take."""

from statistics import median

from catchment.bench.query_load import Sender
from catchment.bench.query_subjects import START_S, InTurn
from catchment.bench.query_trial import SLOWEST_PER_S, Seen, Stillness, wait_until_right
from catchment.bench.query_work import CALLS, PACKETS, SENTENCES, WORKS, wrong_in
from catchment.bench.result import Result, percentile
from catchment.bench.site import wait_for
from catchment.bench.topics import Output
from catchment.bench.twin_trial import now_us
from catchment.config import Config
from catchment.records import Kind

LOADS = (PACKETS, PACKETS, PACKETS, CALLS, SENTENCES)
TOGETHER = {
    f"{work}-{number}": WORKS[work]
    for number, work in enumerate(
        (
            *("filter-map", "filter-map", "filter-map", "windowed-count", "windowed-count"),
            *("windowed-join", "top", "word-count"),
        ),
        1,
    )
}
WARM_UP_SHARE = 0.5
# A query is behind if its last result comes longer after the last record than any pause should last.
BEHIND_MS = 1_000.0


class Together:
    """They all read the same topic, on which the records of all are."""

    def __init__(self, site: Config, sender: Sender, ours: InTurn) -> None:
        self._sender = sender
        self._ours = ours
        self._output = Output(site, Kind.RESULTS.topic)
        self._seen = {name: Seen(work) for name, work in TOGETHER.items()}

    def run(self, result: Result, rate_per_s: int, seconds: float) -> None:
        """First some records that do not count, until all results are there; then those that do."""
        self._sender.restart(LOADS)
        self._output.restart()
        self._sender.fill(round(WARM_UP_SHARE * rate_per_s * seconds))
        self._ours.run(" ".join(f"{work.name}:{name}" for name, work in TOGETHER.items()))
        try:
            self._wait()
            paced_us = now_us()
            self._sender.pace(rate_per_s, seconds)
            ended_us = now_us()
            self._wait()
        finally:
            self._ours.end()
        self._note(result, paced_us, ended_us)

    def _note(self, result: Result, paced_us: int, ended_us: int) -> None:
        behind_ms = [max(seen.written_ms) - ended_us / 1000 for seen in self._seen.values()]
        result.add("together_behind", sum(each > BEHIND_MS for each in behind_ms), "queries")
        result.add("together_last_result", max(0.0, *behind_ms), "ms")
        for kind, stateful in (("stateless", False), ("stateful", True)):
            delays = [
                seen.delays_ms(paced_us)
                for name, seen in self._seen.items()
                if TOGETHER[name].stateful is stateful
            ]
            # Of the slowest query, not of all results: a query with many would hide one with few.
            result.add(f"together_delay_{kind}_p50", max(map(median, delays)), "ms")
            result.add(f"together_delay_{kind}_p99", max(percentile(each, 0.99) for each in delays), "ms")

    def _wait(self) -> None:
        wait_until_right(
            self._look,
            self._wrong,
            self._ours.check,
            START_S + self._sent / SLOWEST_PER_S,
            "side by side one",
        )

    def _look(self) -> None:
        there = sum(len(seen.written_ms) for seen in self._seen.values())
        enough = Stillness(self._output, there, None)
        wait_for(enough.reached, self._ours.check, START_S + self._sent / SLOWEST_PER_S)
        for row in self._output.take():
            _, name, _ = (row.key or b"").decode().split("/", 2)
            self._seen[name].add(row)

    def _wrong(self) -> list[str]:
        for name, work in TOGETHER.items():
            expected = work.expected(self._sender.sent[work.load.name], self._sender.start_ms)
            if wrong := wrong_in(self._seen[name].results(), expected):
                return [f"{name}: {each}" for each in wrong]
        return []

    @property
    def _sent(self) -> int:
        return sum(self._sender.sent.values())
