"""Runs the parts of a node: starts them as others are there, keeps them alive, stops them in order.

A single loop in the main thread. A part starts when those that it waits for have run once: the broker first,
last the demonstration; the death of the broker later stops nobody else. Ranks stop one after the other:
first whatever lets data in, last the broker.
"""

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from catchment.config import Config
from catchment.health import Report, Reporter, State
from catchment.node.keeper import Keeper, Part
from catchment.node.remains import Remains
from catchment.node.status import SOCKET, NodeStatus, status_of

LOOP_INTERVAL_S = 0.2
STOP_INTERVAL_S = 0.05
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Supervisor:
    """The running node; `show` is told the status at every turn of the loop."""

    def __init__(
        self,
        config: Config,
        parts: Sequence[Part],
        environment: Mapping[str, str],
        show: Callable[[NodeStatus], None],
    ) -> None:
        self._config = config
        self._keepers = [Keeper(part, config.supervisor, environment, config.paths.logs) for part in parts]
        self._remains = Remains(config.paths.processes, config.data_dir)
        self._recorded: dict[str, int] = {}
        self._show = show
        self._was_ready = False
        self._stopping = False
        self._report = Report(state=State.STARTING)

    def run(self) -> None:
        """Runs until it is told to stop; whatever happens, no process is left behind."""
        self._tell()
        reporter = Reporter(self._config.paths.socket(SOCKET), lambda: self._report)
        with stop_requests() as requests:
            try:
                while not requests:
                    self._step()
                    time.sleep(LOOP_INTERVAL_S)
                self._stop_in_order(requests)
            finally:
                for keeper in self._keepers:
                    keeper.kill()
                self._remains.sweep()
                reporter.close()

    def _step(self) -> None:
        now_s = time.monotonic()
        have_run = {keeper.part.name for keeper in self._keepers if keeper.has_run}
        for keeper in self._keepers:
            if keeper.part.waits_for <= have_run:
                keeper.step(now_s)
                self._record()
        self._tell()

    def _stop_in_order(self, requests: list[int]) -> None:
        self._stopping = True
        deadline_s = time.monotonic() + self._config.supervisor.stop_timeout_s
        ranks = sorted({keeper.part.stop_rank for keeper in self._keepers})
        for rank in ranks:
            left_s = deadline_s - time.monotonic()
            # Half of what is left, so that one that hangs leaves time for the others to stop properly.
            until_s = deadline_s if rank == ranks[-1] else deadline_s - left_s / 2
            self._stop(
                [keeper for keeper in self._keepers if keeper.part.stop_rank == rank], until_s, requests
            )

    def _stop(self, keepers: list[Keeper], until_s: float, requests: list[int]) -> None:
        for keeper in keepers:
            keeper.terminate()
        while not all(keeper.has_stopped() for keeper in keepers):
            self._tell()
            if time.monotonic() > until_s or len(requests) > 1:
                break
            time.sleep(STOP_INTERVAL_S)
        for keeper in keepers:
            keeper.kill()
        self._tell()

    def _record(self) -> None:
        """Writes down who is alive, at once: the next moment may be the supervisor's last."""
        children = {keeper.part.name: keeper.child for keeper in self._keepers if keeper.child}
        pids = {name: child.pid for name, child in children.items()}
        if pids != self._recorded:
            self._remains.record(children)
            self._recorded = pids

    def _tell(self) -> None:
        now_s = time.monotonic()
        status = status_of(self._config, [keeper.component(now_s) for keeper in self._keepers])
        self._was_ready = self._was_ready or status.ready
        self._report = Report(state=self._own_state(status.ready), figures=status.model_dump(mode="json"))
        self._show(status)

    def _own_state(self, ready: bool) -> State:
        if self._stopping:
            return State.STOPPING
        if ready:
            return State.RUNNING
        return State.DEGRADED if self._was_ready else State.STARTING


@contextmanager
def stop_requests() -> Iterator[list[int]]:
    """Collects requests to stop: the first asks for an orderly end, a second one for an end at once."""
    requests: list[int] = []
    before = {
        number: signal.signal(number, lambda received, _: requests.append(received))
        for number in _STOP_SIGNALS
    }
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
