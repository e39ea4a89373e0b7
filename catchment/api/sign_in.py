"""Who may begin a session: a token, or a name with its password; guessing is slowed down."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from catchment.api.attempts import Attempts, key_of_address, key_of_name
from catchment.errors import TooManyAttempts
from catchment.security.tokens import Token, Tokens
from catchment.security.users import User, Users

# A password takes 64 MiB and a good part of a second to check: one at a time, and not without end.
MOST_WAITING = 20


class SignIns:
    """Checks what people sign in with."""

    def __init__(self, tokens: Tokens, users: Users, attempts: Attempts | None = None) -> None:
        self._tokens = tokens
        self._users = users
        self._attempts = attempts or Attempts()
        self._one_at_a_time = ThreadPoolExecutor(1, "passwords")
        self._waiting = 0

    def by_token(self, token: str, address: str) -> Token:
        place = key_of_address(address)
        self._attempts.begin(place)
        found = self._tokens.check(token)
        self._attempts.succeeded(None, place)
        return found

    async def by_password(self, name: str, password: str, address: str) -> User:
        """The user, after a time that is the same for every name."""
        if self._waiting >= MOST_WAITING:
            raise TooManyAttempts("Too many people sign in at this moment", 5)
        place, named = key_of_address(address), key_of_name(name)
        self._attempts.begin(place, named)
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            user = await loop.run_in_executor(self._one_at_a_time, self._users.check, name, password)
        finally:
            self._waiting -= 1
        self._attempts.succeeded(named, place)
        return user
