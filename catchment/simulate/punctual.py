"""A provider whose lines have times."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from catchment.config import Config
from catchment.security.authority import Identity
from catchment.simulate.lines import LARGEST_WRITE_LINES, Lines, Load, Sender


class TimedLines(Lines, Protocol):
    """Lines of which the first is due at a moment, and the rest at an even pace."""

    @property
    def began_ms(self) -> int: ...

    @property
    def rate_per_s(self) -> float: ...


class Punctual(Sender):
    """After a cut it sends what has become due meanwhile."""

    def __init__(
        self,
        config: Config,
        lines: TimedLines,
        count: int,
        identity: Identity,
        stop: asyncio.Event,
        on_safe: Callable[[int], None],
    ) -> None:
        load = Load(providers=1, count=count, rate=lines.rate_per_s, line_bytes=0, seed=0)
        super().__init__(config, load, 0, lines, identity, stop, on_safe)
        self._began_s = lines.began_ms / 1000

    def _pace(self) -> Iterator[int]:
        while True:
            elapsed_s = time.time() - self._began_s
            on_schedule = int(elapsed_s * self._rate) + 1 if elapsed_s >= 0 else 0
            due = min(LARGEST_WRITE_LINES, on_schedule - self._sent)
            yield max(0, due if self._share is None else min(due, self._share - self._sent))
