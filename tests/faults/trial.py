"""One fault, tried: lines flow, something fails, and in the end the far end is asked what it has."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from tests.faults.machines import wait_until
from tests.faults.outcome import Outcome, out_of_order, recovery_s, repeated
from tests.faults.traffic import FarEnd, Sending

ARRIVAL_TIMEOUT_S = 240.0
# What comes again after all have come would come within this time.
AFTERMATH_S = 1.0


@dataclass(frozen=True)
class Scale:
    """How much is tried: lines a second, for so long before and after a fault that lasts so long."""

    rate: int
    flow_s: float
    fault_s: float
    kills: int


SHORT = Scale(rate=1_000, flow_s=1, fault_s=4, kills=4)
FULL = Scale(rate=2_000, flow_s=5, fault_s=15, kills=20)


class Trial:
    """Lines on their way, and the times between which something failed."""

    def __init__(self, sending: Sending, far_end: FarEnd, scale: Scale) -> None:
        self.sending = sending
        self._far_end = far_end
        self._flow_s = scale.flow_s
        self._faults: list[tuple[float, float]] = []

    def let_flow(self) -> None:
        """Waits until lines that are taken from now on come to the far end, and then lets them flow on."""
        now = time.time()
        wait_until(lambda: self._has_come_since(now), "lines at the far end", ARRIVAL_TIMEOUT_S)
        time.sleep(self._flow_s)

    @contextmanager
    def fault(self) -> Iterator[None]:
        """What is done in the block is the fault; it ends with the block."""
        began_at = time.time()
        yield
        self._faults.append((began_at, time.time()))

    def outcome(self, number: int, fault: str, done: str) -> Outcome:
        """Waits until all that was sent has come, or comes no more, and judges."""
        streams, sent = self.sending.streams, self.sending.finish()
        with suppress(AssertionError):
            wait_until(lambda: self._far_end.distinct(streams) >= sent, "all lines", ARRIVAL_TIMEOUT_S)
        time.sleep(AFTERMATH_S)
        assert self._far_end.runs, "the consumer has ended"
        came = {stream: self._far_end.arrivals(stream) for stream in streams}
        numbers = [[each.number for each in arrivals] for arrivals in came.values()]
        everything = [each for arrivals in came.values() for each in arrivals]
        return Outcome(
            number=number,
            fault=fault,
            done=done,
            sent=sent,
            arrived=self._far_end.distinct(streams),
            twice=sum(map(repeated, numbers)),
            out_of_order=sum(map(out_of_order, numbers)),
            recovery_s=round(max(recovery_s(everything, *times) for times in self._faults), 1),
        )

    def _has_come_since(self, moment: float) -> bool:
        newest = (self._far_end.newest(stream) for stream in self.sending.streams)
        return all(arrival is not None and arrival.taken_at > moment for arrival in newest)
