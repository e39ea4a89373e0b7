"""When a spool will be full, if it goes on as it does."""

import threading
import time
from collections.abc import Callable


class SpoolForecast:
    """Guesses from how the spool grew when it will be full."""

    SPAN_S = 30.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._looks: list[tuple[float, int]] = []
        self._lock = threading.Lock()

    def full_in_s(self, used_bytes: int, max_bytes: int) -> float | None:
        """Seconds until it is full; None while it does not grow, or has not been looked at twice."""
        now_s = self._clock()
        with self._lock:
            recent = [look for look in self._looks if look[0] > now_s - self.SPAN_S]
            self._looks = [*recent, (now_s, used_bytes)]
            first_s, first_bytes = self._looks[0]
        if used_bytes <= first_bytes or now_s <= first_s:
            return None
        growth_per_s = (used_bytes - first_bytes) / (now_s - first_s)
        return round(max(0, max_bytes - used_bytes) / growth_per_s, 1)
