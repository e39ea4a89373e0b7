"""What one provider may ask of a gateway: so many records a second, so many things at the same time."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class RateLimit:
    """Records a second for each provider, with one second's worth to spend at once.

    Whatever its size, a batch is taken as long as its provider is not in debt, and may leave it in debt: so
    every batch has its turn, and in the long run nobody has more than the rate.
    """

    def __init__(self, per_s: float | None, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._clock_s = clock_s
        self._paid_until_s: dict[str, float] = {}

    def wait_s(self, provider: str) -> float:
        """How long the provider has to wait until it may send again; 0 if it may now."""
        paid_until_s = self._paid_until_s.get(provider)
        return 0.0 if paid_until_s is None else max(0.0, paid_until_s - self._clock_s())

    def spend(self, provider: str, records: int) -> None:
        """Writes down what the provider has sent."""
        if self._per_s is None:
            return
        # Someone who was silent has a second to spare, and no more however long the silence.
        earliest_s = self._clock_s() - 1.0
        begun_s = max(self._paid_until_s.get(provider, earliest_s), earliest_s)
        self._paid_until_s[provider] = begun_s + records / self._per_s


class Places:
    """So many at the same time in all, and so many of them for each provider."""

    def __init__(self, in_all: int, for_each: int) -> None:
        self._in_all = in_all
        self._for_each = for_each
        self._taken_by: Counter[str] = Counter()
        self.taken = 0

    def take(self, provider: str) -> bool:
        """Takes a place, if there is one."""
        if self.taken >= self._in_all or self._taken_by[provider] >= self._for_each:
            return False
        self._taken_by[provider] += 1
        self.taken += 1
        return True

    def leave(self, provider: str) -> None:
        self.taken -= 1
        self._taken_by[provider] -= 1
        if not self._taken_by[provider]:
            del self._taken_by[provider]

    @contextmanager
    def hold(self, provider: str) -> Iterator[bool]:
        """Says whether there is a place, and holds it for the block."""
        taken = self.take(provider)
        try:
            yield taken
        finally:
            if taken:
                self.leave(provider)
