"""Who is signed in to the console. Sessions live in memory: a restart of the service ends them all."""

import math
import secrets
import time
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass

from catchment.errors import TooManyAttempts
from catchment.security.tokens import Token

Clock = Callable[[], float]

MOST_SESSIONS = 1_000
MOST_FAILURES = 5
FAILURE_WINDOW_S = 60


@dataclass(frozen=True)
class Session:
    """One sign-in: what it may do is what its token may do."""

    id: str
    token: Token
    ends_at_s: float


class Sessions:
    """The open sessions, oldest first."""

    def __init__(self, lifetime_s: float, clock: Clock = time.monotonic) -> None:
        self._lifetime_s = lifetime_s
        self._clock = clock
        self._open: dict[str, Session] = {}

    def begin(self, token: Token) -> Session:
        session = Session(secrets.token_urlsafe(32), token, self._clock() + self._lifetime_s)
        while len(self._open) >= MOST_SESSIONS:
            del self._open[next(iter(self._open))]
        self._open[session.id] = session
        return session

    def find(self, session_id: str) -> Session | None:
        """The session if it is open still."""
        session = self._open.get(session_id)
        if session and session.ends_at_s <= self._clock():
            self.end(session_id)
            return None
        return session

    def end(self, session_id: str) -> None:
        self._open.pop(session_id, None)

    def seconds_left(self, session: Session) -> float:
        return session.ends_at_s - self._clock()


class FailedSignIns:
    """Slows down whoever guesses: after a few failures an address has to wait."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._failed_at_s: defaultdict[str, deque[float]] = defaultdict(deque)

    def refuse_if_too_many(self, address: str) -> None:
        self._forget_old()
        failures = self._failed_at_s.get(address)
        if failures and len(failures) >= MOST_FAILURES:
            wait_s = math.ceil(failures[0] + FAILURE_WINDOW_S - self._clock())
            raise TooManyAttempts("Too many sign-ins from this address failed", max(1, wait_s))

    def add(self, address: str) -> None:
        self._failed_at_s[address].append(self._clock())

    def _forget_old(self) -> None:
        oldest_s = self._clock() - FAILURE_WINDOW_S
        for address, failures in list(self._failed_at_s.items()):
            while failures and failures[0] <= oldest_s:
                failures.popleft()
            if not failures:
                del self._failed_at_s[address]
