"""Looking after a query: the real runner with a query whose end the test decides."""

import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from catchment.errors import BrokerUnavailable
from catchment.health import State
from catchment.pipeline.runner import FIRST_BACKOFF_S, STARTED_WITHIN_S, STUCK_AFTER_S, QueryRunner


class EndingError(Exception):
    """Why the query of a test ended."""


class ShortQuery:
    """What the runner sees of a Spark query."""

    runId = "run"  # noqa: N815 - Spark's name

    def __init__(self) -> None:
        self.isActive = True
        self.error: Exception | None = None

    def exception(self) -> Exception | None:
        return self.error

    def stop(self) -> None:
        self.isActive = False

    def end(self, reason: str) -> None:
        self.error = EndingError(reason)
        self.isActive = False


class Bench:
    """A runner with a clock and tasks that the test moves."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.tasks = 1
        self.started: list[ShortQuery] = []
        self.refusal: Exception | None = None
        self.has_work = True
        self.runner = QueryRunner(
            name="ledger",
            start=self._start,  # type: ignore[arg-type]
            active_tasks=lambda _: self.tasks,
            backoff_max_s=5.0,
            clock=lambda: self.now_s,
            has_work=lambda: self.has_work,
        )

    def _start(self) -> ShortQuery:
        if self.refusal:
            raise self.refusal
        self.started.append(ShortQuery())
        return self.started[-1]

    def tend_after(self, seconds: float) -> State:
        self.now_s += seconds
        self.runner.tend()
        return self.runner.state


def test_a_query_runs_once_its_tasks_run() -> None:
    bench = Bench()
    bench.tasks = 0
    assert bench.tend_after(0) is State.STARTING
    assert bench.tend_after(1) is State.STARTING
    bench.tasks = 4
    assert bench.tend_after(1) is State.RUNNING


def test_a_query_with_nothing_to_do_rests_until_it_has_work() -> None:
    bench = Bench()
    bench.has_work = False
    assert bench.tend_after(0) is State.RUNNING
    assert (bench.runner.resting, bench.runner.uptime_s, bench.started) == (True, 0.0, [])
    bench.has_work = True
    bench.tend_after(2)
    assert bench.tend_after(1) is State.RUNNING
    assert (bench.runner.resting, bench.runner.uptime_s, len(bench.started)) == (False, 1.0, 1)


def test_a_query_that_ends_is_started_again_with_growing_pauses() -> None:
    bench = Bench()
    pauses = []
    for _ in range(5):
        bench.tend_after(0)
        bench.started[-1].end("a task failed\nwith a long story")
        assert bench.tend_after(0) is State.RESTARTING
        pause_s, starts = 0.0, len(bench.started)
        while len(bench.started) == starts:
            pause_s += 0.5
            bench.tend_after(0.5)
        pauses.append(pause_s)
    assert pauses == [FIRST_BACKOFF_S, 2.0, 4.0, 5.0, 5.0]
    assert bench.runner.restarts == 5
    assert bench.runner.last_error == "a task failed"


@pytest.mark.parametrize(
    "refusal",
    [
        BrokerUnavailable("Nothing came", "See that it runs."),
        PySparkException("no plan"),
        Py4JError("no class"),
    ],
)
def test_a_query_that_cannot_start_is_tried_again_and_harms_nobody(refusal: Exception) -> None:
    bench = Bench()
    bench.refusal = refusal
    assert bench.tend_after(0) is State.RESTARTING
    assert bench.runner.last_error == str(refusal).split("\n")[0]
    bench.refusal = None
    bench.tend_after(FIRST_BACKOFF_S)
    assert bench.tend_after(1) is State.RUNNING


def test_the_pause_is_short_again_after_a_steady_run() -> None:
    bench = Bench()
    for _ in range(3):
        bench.tend_after(10)
        bench.started[-1].end("again")
        bench.tend_after(0)
    bench.tend_after(10)
    for _ in range(70):
        bench.tend_after(1)
    bench.started[-1].end("after a good while")
    bench.tend_after(0)
    bench.tend_after(FIRST_BACKOFF_S)
    assert bench.started[-1].isActive


def test_a_query_without_tasks_is_stuck_and_started_again() -> None:
    bench = Bench()
    bench.tend_after(0)
    bench.tend_after(1)
    bench.tasks = 0
    assert bench.tend_after(STUCK_AFTER_S - 1) is State.RUNNING
    assert bench.tend_after(2) is State.RESTARTING
    assert not bench.started[0].isActive


def test_a_query_that_takes_long_to_start_is_left_alone() -> None:
    bench = Bench()
    bench.tasks = 0
    bench.tend_after(0)
    assert bench.tend_after(STARTED_WITHIN_S - 1) is State.STARTING
    assert bench.tend_after(2) is State.RESTARTING


def test_a_stopped_query_stays_stopped() -> None:
    bench = Bench()
    bench.tend_after(0)
    bench.runner.stop()
    assert bench.runner.state is State.STOPPED
    assert not bench.started[0].isActive
