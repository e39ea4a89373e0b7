"""People with a name and a password, and the role that says what each may do."""

import datetime
import secrets
from enum import StrEnum
from functools import cache
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from pydantic import BaseModel, TypeAdapter

from catchment.errors import AccessRefused, Conflict, InvalidRequest, NotFound, Unauthenticated
from catchment.records import check_name
from catchment.security.files import exclusive, write_private
from catchment.security.tokens import Scope

ADMINISTRATOR = "admin"
SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 200

# Without letters and digits that look alike: people copy it by hand. 16 of 31 are 79 bits.
_ONE_TIME_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_HASHER = PasswordHasher()


class UserRole(StrEnum):
    """What a person is there for; each role may do all that the one before may."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    INSTALLER = "installer"
    ADMINISTRATOR = "administrator"


_VIEWER = frozenset(
    scope for scope in Scope if scope.value.endswith(":read") and scope is not Scope.AUDIT_READ
)
_OPERATOR = _VIEWER | {
    Scope.ALERTS_ACKNOWLEDGE,
    Scope.AUDIT_READ,
    Scope.DEADLETTER_REPLAY,
    Scope.QUERIES_WRITE,
    Scope.RULES_WRITE,
    Scope.TWINS_WRITE,
}
_INSTALLER = _OPERATOR | {Scope.REGISTRY_WRITE, Scope.SITES_WRITE, Scope.PARTIES_WRITE}
ROLE_SCOPES: dict[UserRole, frozenset[Scope]] = {
    UserRole.VIEWER: _VIEWER,
    UserRole.OPERATOR: _OPERATOR,
    UserRole.INSTALLER: _INSTALLER,
    UserRole.ADMINISTRATOR: frozenset(Scope),
}


class User(BaseModel, frozen=True):
    """A person as they are kept: without the password."""

    name: str
    role: UserRole
    password_argon2: str
    created_at: datetime.datetime
    password_changed_at: datetime.datetime
    must_change_password: bool

    @property
    def scopes(self) -> frozenset[Scope]:
        """What the role allows; nothing before a one-time password was replaced."""
        return frozenset() if self.must_change_password else ROLE_SCOPES[self.role]

    @property
    def party(self) -> str:
        return f"user/{self.name}"

    @property
    def expires_at(self) -> None:
        """People do not expire; they are removed."""

    def require(self, scope: Scope) -> None:
        if self.must_change_password:
            raise AccessRefused(
                "The one-time password has not been replaced", "Choose a password of your own first."
            )
        if scope not in self.scopes:
            raise AccessRefused(
                f"The role {self.role} lacks the scope {scope.value}",
                "Ask an administrator for another role.",
            )


_USERS = TypeAdapter(dict[str, User])


class Users:
    """The people of a node, in one file that is read anew when it changed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = file.with_suffix(".lock")
        self._read_at_ns = -1
        self._users: dict[str, User] = {}

    def add(self, name: str, role: UserRole, password: str | None = None) -> str | None:
        """Makes a user. Without a password there is a one-time one, of which this is the only copy."""
        check_name("user", name)
        with exclusive(self._lock):
            if name in self.all():
                raise Conflict(f"There is a user {name!r} already", "Take another name, or change that one.")
            hashed, one_time = _hashed(name, password)
            now = _now()
            user = User(
                name=name,
                role=role,
                password_argon2=hashed,
                created_at=now,
                password_changed_at=now,
                must_change_password=one_time is not None,
            )
            self._save({**self.all(), name: user})
        return one_time

    def set_role(self, name: str, role: UserRole) -> None:
        with exclusive(self._lock):
            user = self._find(name)
            if role is not UserRole.ADMINISTRATOR:
                self._require_another_administrator(name)
            self._save({**self.all(), name: user.model_copy(update={"role": role})})

    def set_password(self, name: str, password: str | None = None) -> str | None:
        """Replaces the password; without one there is a one-time password, of which this is the only copy."""
        with exclusive(self._lock):
            user = self._find(name)
            hashed, one_time = _hashed(name, password)
            change = {
                "password_argon2": hashed,
                "password_changed_at": _now(),
                "must_change_password": one_time is not None,
            }
            self._save({**self.all(), name: user.model_copy(update=change)})
        return one_time

    def remove(self, name: str) -> None:
        with exclusive(self._lock):
            self._find(name)
            self._require_another_administrator(name)
            self._save({key: user for key, user in self.all().items() if key != name})

    def check(self, name: str, password: str) -> User:
        """The user with this name and password; one refusal for all, after the same time."""
        nobody = _hash_of_nobody()
        user = self.all().get(name)
        try:
            _HASHER.verify(user.password_argon2 if user else nobody, password)
        except VerificationError:
            user = None
        if user is None:
            raise Unauthenticated("The name or the password is wrong", "Try again, or ask an administrator.")
        return user

    def all(self) -> dict[str, User]:
        """Sorted by name."""
        try:
            changed_at_ns = self._file.stat().st_mtime_ns
        except FileNotFoundError:
            return {}
        if changed_at_ns != self._read_at_ns:
            self._users = _USERS.validate_json(self._file.read_bytes())
            self._read_at_ns = changed_at_ns
        return dict(self._users)

    def _find(self, name: str) -> User:
        user = self.all().get(name)
        if user is None:
            raise NotFound(f"There is no user {name!r}", "`catchment user list` shows those there are.")
        return user

    def _require_another_administrator(self, name: str) -> None:
        administrators = {user.name for user in self.all().values() if user.role is UserRole.ADMINISTRATOR}
        if administrators == {name}:
            raise Conflict(f"{name!r} is the last administrator", "Make another one first.")

    def _save(self, users: dict[str, User]) -> None:
        write_private(self._file, _USERS.dump_json(dict(sorted(users.items())), indent=2))


@cache
def _hash_of_nobody() -> str:
    """What is compared with when there is no such user, so that this takes as long; nothing matches it."""
    return _HASHER.hash(secrets.token_urlsafe(32))


def _hashed(name: str, password: str | None) -> tuple[str, str | None]:
    """The hash of a password, and the password itself if it had to be made."""
    if password is None:
        one_time = "-".join("".join(secrets.choice(_ONE_TIME_LETTERS) for _ in range(4)) for _ in range(4))
        return _HASHER.hash(one_time), one_time
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD or name.lower() in password.lower():
        raise InvalidRequest(
            "The password is too easy to guess, or too long",
            f"Take {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters, without the name in it.",
        )
    return _HASHER.hash(password), None


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
