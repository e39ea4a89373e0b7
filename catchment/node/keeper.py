"""Keeps one part of a node alive.

1. The part is started, and asked how it is until it says that it runs (`starting`).
2. It runs, and is asked at intervals; its own word counts (`running`, `degraded`).
3. It died: what it started is killed, and it is started again after a pause that doubles with every death
   up to a limit, and is short again once it ran for a while (`restarting`). There is no last attempt.
4. It lives and does not answer: `degraded` after a few seconds; after `supervisor.silence_max_s` (or
   `supervisor.start_max_s`, if it never answered) it is killed, and the third step follows.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from catchment.config.models import SupervisorSettings
from catchment.errors import BrokerUnavailable, CatchmentError, NodeNotRunning
from catchment.health import Report, State
from catchment.node.process import Child, last_words, rotate
from catchment.node.status import Component

log = logging.getLogger(__name__)

FIRST_PAUSE_S = 0.5
STEADY_AFTER_S = 30.0
ASK_WHILE_STARTING_S = 0.5
SILENCE_SHOWS_AFTER_S = 6.0


@dataclass(frozen=True)
class Part:
    """What the supervisor knows of a part.

    A part without a command is somebody else's to run (an existing cluster) and only asked how it is.
    It starts when the parts that it waits for have run once. Ranks stop one after the other.
    """

    name: str
    command: Callable[[], list[str]] | None
    ask: Callable[[], Report]
    stop_rank: int
    waits_for: frozenset[str] = frozenset()
    ask_interval_s: float = 2.0
    needed: bool = True


class Keeper:
    """One part and its process; `step` is called over and over with the time."""

    def __init__(
        self, part: Part, settings: SupervisorSettings, environment: Mapping[str, str], logs: Path
    ) -> None:
        self.part = part
        self.child: Child | None = None
        self.has_run = False
        self.state = State.STARTING
        self._settings = settings
        self._environment = environment
        self._log = logs / f"{part.name}.log"
        self._detail = ""
        self._figures: dict[str, object] = {}
        self._starts = 0
        self._deaths_in_a_row = 0
        self._start_at_s = 0.0
        self._started_at_s = 0.0
        self._ask_at_s = 0.0
        self._heard_at_s: float | None = None

    def step(self, now_s: float) -> None:
        """Does what is due: start, bury or ask."""
        if self.part.command and self.child is None:
            if now_s >= self._start_at_s:
                self._start(self.part.command, now_s)
        elif self.child and self.child.exited():
            self._bury("", now_s)
        elif now_s >= self._ask_at_s:
            self._ask(now_s)

    def terminate(self) -> None:
        """Asks the part to stop."""
        if self.child:
            self.state = State.STOPPING
            self.child.terminate()

    def has_stopped(self) -> bool:
        return self.child is None or self.child.exited()

    def kill(self) -> None:
        """Ends what is left of the part, for good."""
        if self.child:
            self.child.kill()
        self.child = None
        self.state = State.STOPPED
        self._detail = ""

    def component(self, now_s: float) -> Component:
        return Component(
            name=self.part.name,
            state=self.state,
            detail=self._detail,
            pid=self.child.pid if self.child else None,
            restarts=max(0, self._starts - 1),
            uptime_s=round(now_s - self._started_at_s, 1) if self.child else 0,
            figures=self._figures,
            needed=self.part.needed,
        )

    def _start(self, command: Callable[[], list[str]], now_s: float) -> None:
        try:
            self.child = Child(command(), self._environment, self._log)
        except (CatchmentError, OSError) as error:
            if not self._starts:
                raise
            self._try_later(str(error), now_s)
            return
        self.state = State.STARTING
        self._detail = ""
        self._starts += 1
        self._started_at_s = now_s
        self._ask_at_s = now_s + ASK_WHILE_STARTING_S
        self._heard_at_s = None

    def _bury(self, reason: str, now_s: float) -> None:
        assert self.child
        how = self.child.kill()
        self.child = None
        if now_s - self._started_at_s > STEADY_AFTER_S:
            self._deaths_in_a_row = 0
        words = last_words(self._log)
        self._try_later(f"{reason or how} ({words})" if words else reason or how, now_s)

    def _try_later(self, reason: str, now_s: float) -> None:
        pause_s = self._pause_s()
        self._deaths_in_a_row += 1
        self._start_at_s = now_s + pause_s
        self.state = State.RESTARTING
        self._detail = f"again in {pause_s:g} s: {reason}"
        log.warning("%s is started %s", self.part.name, self._detail)

    def _pause_s(self) -> float:
        doublings = min(self._deaths_in_a_row, 16)
        return float(min(FIRST_PAUSE_S * 2**doublings, self._settings.restart_backoff_max_s))

    def _ask(self, now_s: float) -> None:
        rotate(self._log)
        try:
            report = self.part.ask()
        except (NodeNotRunning, BrokerUnavailable) as error:
            self._heard_nothing(error.happened, now_s)
        else:
            self._heard(report, now_s)
        starting = self.state is State.STARTING
        self._ask_at_s = now_s + (ASK_WHILE_STARTING_S if starting else self.part.ask_interval_s)

    def _heard(self, report: Report, now_s: float) -> None:
        self.state = report.state
        self.has_run = self.has_run or report.state is State.RUNNING
        self._detail = report.detail
        self._figures = report.figures
        self._heard_at_s = now_s

    def _heard_nothing(self, happened: str, now_s: float) -> None:
        answered = self._heard_at_s is not None
        silent_s = now_s - (self._heard_at_s if self._heard_at_s is not None else self._started_at_s)
        limit_s = self._settings.silence_max_s if answered else self._settings.start_max_s
        if self.child and silent_s > limit_s:
            self._bury(f"hung: no answer for {silent_s:.0f} s", now_s)
        elif not self.child or silent_s > SILENCE_SHOWS_AFTER_S:
            self.state = State.DEGRADED if answered else State.STARTING
            self._detail = happened
