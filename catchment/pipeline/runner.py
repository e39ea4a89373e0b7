"""Looking after one query: started, watched, and started again with back-off when it ends."""

import logging
import time
from collections.abc import Callable

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

from catchment.errors import CatchmentError
from catchment.health import State

log = logging.getLogger(__name__)

FIRST_BACKOFF_S = 1.0
STEADY_AFTER_S = 60.0
STUCK_AFTER_S = 60.0
# On a busy machine several queries that start at once take long; starting again would only make it longer.
STARTED_WITHIN_S = 300.0


class QueryRunner:
    """Any failure of a task ends a real-time query, so restarting is part of its ordinary life."""

    def __init__(
        self,
        name: str,
        start: Callable[[], StreamingQuery],
        active_tasks: Callable[[str], int],
        backoff_max_s: float,
        clock: Callable[[], float] = time.monotonic,
        has_work: Callable[[], bool] = lambda: True,
    ) -> None:
        self.name = name
        self.state = State.STARTING
        self.resting = False
        self.restarts = 0
        self.last_error = ""
        self._start = start
        self._active_tasks = active_tasks
        self._backoff_max_s = backoff_max_s
        self._backoff_s = FIRST_BACKOFF_S
        self._clock = clock
        self._has_work = has_work
        self._query: StreamingQuery | None = None
        self._started_at = clock()
        self._busy_at = clock()
        self._start_due_at = clock()

    def tend(self) -> None:
        """Does what is due now; called every second or so."""
        now = self._clock()
        if self._query is None:
            if now >= self._start_due_at:
                self._begin(now)
        elif not self._query.isActive:
            self._schedule_restart(now, _reason(self._query))
        else:
            self._watch(self._query, now)

    def stop(self) -> None:
        self.state = State.STOPPED
        if self._query is not None:
            self._query.stop()

    @property
    def uptime_s(self) -> float:
        works = self.state is State.RUNNING and not self.resting
        return round(self._clock() - self._started_at, 1) if works else 0.0

    def _begin(self, now: float) -> None:
        self._started_at = self._busy_at = now
        try:
            self.resting = not self._has_work()
            # A query with nothing to do does its job by waiting.
            self.state = State.RUNNING if self.resting else State.STARTING
            self._query = None if self.resting else self._start()
        except (PySparkException, Py4JError, CatchmentError) as error:
            self._schedule_restart(now, _first_line(error))

    def _watch(self, query: StreamingQuery, now: float) -> None:
        if self._active_tasks(str(query.runId)) > 0:
            self._busy_at = now
            self.state = State.RUNNING
        elif now - self._busy_at > (limit_s := self._patience_s()):
            query.stop()
            self._schedule_restart(now, f"no task has run for {limit_s:.0f} s")
        if now - self._started_at > STEADY_AFTER_S:
            self._backoff_s = FIRST_BACKOFF_S

    def _patience_s(self) -> float:
        """Between two checkpoint intervals no task runs, but not for long."""
        return STUCK_AFTER_S if self.state is State.RUNNING else STARTED_WITHIN_S

    def _schedule_restart(self, now: float, reason: str) -> None:
        log.error("query %s ended: %s; it is started again in %.0f s", self.name, reason, self._backoff_s)
        self.state = State.RESTARTING
        self.restarts += 1
        self.last_error = reason
        self._query = None
        self._start_due_at = now + self._backoff_s
        self._backoff_s = min(2 * self._backoff_s, self._backoff_max_s)


def _reason(query: StreamingQuery) -> str:
    error = query.exception()
    return _first_line(error) if error else "it was stopped from outside"


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
