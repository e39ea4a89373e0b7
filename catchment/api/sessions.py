"""Who is signed in to the console. Sessions live in memory: a restart of the service ends them all."""

import datetime
import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from catchment.security.tokens import Holder

Clock = Callable[[], float]

MOST_SESSIONS = 1_000


@dataclass(frozen=True)
class Session:
    """One sign-in: what it may do is what its token or user may do."""

    id: str
    holder: Holder
    address: str
    began_at: datetime.datetime
    ends_at_s: float

    @property
    def handle(self) -> str:
        """What the session is called in lists: whoever reads it there cannot use it."""
        return hashlib.sha256(self.id.encode()).hexdigest()[:16]


class Sessions:
    """The open sessions, oldest first."""

    def __init__(self, lifetime_s: float, clock: Clock = time.monotonic) -> None:
        self._lifetime_s = lifetime_s
        self._clock = clock
        self._open: dict[str, Session] = {}

    def begin(self, holder: Holder, address: str = "") -> Session:
        now = datetime.datetime.now(datetime.UTC)
        ends_at_s = self._clock() + self._lifetime_s
        session = Session(secrets.token_urlsafe(32), holder, address, now, ends_at_s)
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

    def all(self, party: str | None = None) -> list[Session]:
        """Those that are open, oldest first: everybody's, or one party's."""
        found = [session for session_id in list(self._open) if (session := self.find(session_id))]
        return [session for session in found if party in (None, session.holder.party)]

    def end(self, session_id: str) -> None:
        self._open.pop(session_id, None)

    def end_all(self, party: str) -> None:
        """Signs a party out everywhere."""
        for session in self.all(party):
            self.end(session.id)

    def seconds_left(self, session: Session) -> float:
        return session.ends_at_s - self._clock()
