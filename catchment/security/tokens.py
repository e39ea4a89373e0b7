"""Tokens for people and programs: a secret shown once, a hash at rest, and scopes."""

import datetime
import hashlib
import hmac
import secrets
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, TypeAdapter

from catchment.errors import AccessRefused, NotFound, Unauthenticated
from catchment.records import check_name
from catchment.security.files import exclusive, write_private

PREFIX = "ctm"


class Scope(StrEnum):
    """What a token allows."""

    STATUS_READ = "status:read"
    LEDGER_READ = "ledger:read"
    METRICS_READ = "metrics:read"
    REGISTRY_READ = "registry:read"
    REGISTRY_WRITE = "registry:write"
    RULES_READ = "rules:read"
    RULES_WRITE = "rules:write"
    ALERTS_READ = "alerts:read"
    ALERTS_ACKNOWLEDGE = "alerts:acknowledge"
    DATA_READ = "data:read"
    DEADLETTER_READ = "deadletter:read"
    DEADLETTER_REPLAY = "deadletter:replay"
    TWINS_READ = "twins:read"
    TWINS_WRITE = "twins:write"
    SITES_WRITE = "sites:write"
    PARTIES_WRITE = "parties:write"
    USERS_WRITE = "users:write"
    AUDIT_READ = "audit:read"
    QUERIES_READ = "queries:read"
    QUERIES_WRITE = "queries:write"


class Holder(Protocol):
    """Who has rights: a token, or a user."""

    @property
    def name(self) -> str: ...

    @property
    def scopes(self) -> frozenset[Scope]: ...

    @property
    def party(self) -> str:
        """How they are known where objects say who may do what, and in the audit log."""

    @property
    def expires_at(self) -> datetime.datetime | None: ...

    def require(self, scope: Scope) -> None:
        """Refuses what they may not do."""


class Token(BaseModel, frozen=True):
    """A token as it is kept: without its secret."""

    name: str
    secret_sha256: str
    scopes: frozenset[Scope]
    created_at: datetime.datetime
    expires_at: datetime.datetime | None = None

    @property
    def party(self) -> str:
        return f"token/{self.name}"

    def require(self, scope: Scope) -> None:
        if scope not in self.scopes:
            raise AccessRefused(
                f"The token {self.name!r} lacks the scope {scope.value}",
                f"Create one with `catchment token create NAME --scope {scope.value}`.",
            )


_TOKENS = TypeAdapter(dict[str, Token])


class Tokens:
    """The tokens of a node, in one file that is read anew when it changed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = file.with_suffix(".lock")
        self._read_at_ns = -1
        self._tokens: dict[str, Token] = {}

    def create(self, name: str, scopes: frozenset[Scope], lifetime: datetime.timedelta | None = None) -> str:
        """Makes a token, or a new secret for the name, and gives the only copy of the secret."""
        check_name("token", name)
        secret = secrets.token_urlsafe(32)
        now = datetime.datetime.now(datetime.UTC)
        token = Token(
            name=name,
            secret_sha256=_hash(secret),
            scopes=scopes,
            created_at=now,
            expires_at=now + lifetime if lifetime else None,
        )
        with exclusive(self._lock):
            self._save({**self.all(), name: token})
        return f"{PREFIX}.{name}.{secret}"

    def revoke(self, name: str) -> None:
        with exclusive(self._lock):
            tokens = self.all()
            if tokens.pop(name, None) is None:
                raise NotFound(f"There is no token {name!r}", "`catchment token list` shows those there are.")
            self._save(tokens)

    def check(self, presented: str) -> Token:
        """The token behind what a caller presented; names never help an attacker, so one refusal for all."""
        prefix, _, rest = presented.partition(".")
        name, _, secret = rest.rpartition(".")
        token = self.all().get(name)
        expected = token.secret_sha256 if token else _hash("")
        matches = hmac.compare_digest(_hash(secret), expected)
        if prefix != PREFIX or token is None or not matches or _expired(token):
            raise Unauthenticated(
                "The token is not valid (any more)",
                "Create one with `catchment token create NAME --scope SCOPE`.",
            )
        return token

    def all(self) -> dict[str, Token]:
        try:
            changed_at_ns = self._file.stat().st_mtime_ns
        except FileNotFoundError:
            return {}
        if changed_at_ns != self._read_at_ns:
            self._tokens = _TOKENS.validate_json(self._file.read_bytes())
            self._read_at_ns = changed_at_ns
        return dict(self._tokens)

    def _save(self, tokens: dict[str, Token]) -> None:
        write_private(self._file, _TOKENS.dump_json(tokens, indent=2))


def _hash(secret: str) -> str:
    # The secret has 256 random bits, so a fast hash is as good as a slow one.
    return hashlib.sha256(secret.encode()).hexdigest()


def _expired(token: Token) -> bool:
    return token.expires_at is not None and token.expires_at <= datetime.datetime.now(datetime.UTC)
