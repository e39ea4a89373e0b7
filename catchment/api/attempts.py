"""Slows down whoever guesses: after a few failures a name or an address has to wait, longer each time."""

import ipaddress
import math
import threading
import time
from dataclasses import dataclass

from catchment.api.sessions import Clock
from catchment.errors import TooManyAttempts

FREE_FAILURES = 5
FIRST_WAIT_S = 30
# Whoever knows a name can keep its owner out for so long: sign-in by token is not held up by that.
LONGEST_WAIT_S = 900
FORGET_S = 3600
MOST_KNOWN = 10_000
# Who has one address of a network like this has them all.
_IPV6_NETWORK_BITS = 64


@dataclass
class _Failures:
    count: int
    newest_s: float

    def waits_until_s(self) -> float:
        beyond = self.count - FREE_FAILURES
        return self.newest_s + min(FIRST_WAIT_S * 2**beyond, LONGEST_WAIT_S) if beyond >= 0 else 0.0


class Attempts:
    """Failed sign-ins, by name and by address, whether there is such a name or not."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        # The one that failed last is last.
        self._failures: dict[str, _Failures] = {}

    def begin(self, *keys: str) -> None:
        """Refuses who has to wait. It counts as a failure until `succeeded`: many at once do not help."""
        with self._lock:
            self._forget_old()
            until_s = max(
                (self._failures[key].waits_until_s() for key in keys if key in self._failures), default=0
            )
            wait_s = math.ceil(until_s - self._clock())
            if wait_s > 0:
                raise TooManyAttempts("Too many sign-ins failed", wait_s)
            for key in keys:
                known = self._failures.pop(key, None)
                self._failures[key] = _Failures(known.count + 1 if known else 1, self._clock())

    def succeeded(self, name: str | None, address: str) -> None:
        """A name is cleared by its owner; an address is only as suspect as before."""
        with self._lock:
            self._failures.pop(name or "", None)
            if known := self._failures.get(address):
                known.count -= 1

    def _forget_old(self) -> None:
        oldest_s = self._clock() - FORGET_S
        while self._failures:
            key, oldest = next(iter(self._failures.items()))
            if oldest.newest_s > oldest_s and len(self._failures) <= MOST_KNOWN:
                return
            del self._failures[key]


def key_of_name(name: str) -> str:
    return f"name/{name}"


def key_of_address(address: str) -> str:
    """An address, or the network of one that has many."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return f"address/{address}"
    if parsed.version == 6:
        parsed = ipaddress.ip_network(f"{address}/{_IPV6_NETWORK_BITS}", strict=False).network_address
    return f"address/{parsed}"
