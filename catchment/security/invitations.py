"""Invitations of a centre to sites: a token for one time, shown once and kept as a hash."""

import datetime
import hashlib
import hmac
import secrets
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from catchment.errors import Unauthenticated
from catchment.records import check_name
from catchment.security.files import exclusive, write_private

PREFIX = "cti"


class Invitation(BaseModel, frozen=True):
    """A site that may join until a time."""

    site: str
    secret_sha256: str
    expires_at: datetime.datetime


_INVITATIONS = TypeAdapter(dict[str, Invitation])


class Invitations:
    """The open invitations, one a site at most."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = file.with_suffix(".lock")

    def make(self, site: str, lifetime: datetime.timedelta) -> tuple[str, datetime.datetime]:
        """A token with which this site may join once, and until when. An earlier one stops counting."""
        check_name("site", site)
        secret = secrets.token_urlsafe(32)
        invitation = Invitation(site=site, secret_sha256=_hash(secret), expires_at=_now() + lifetime)
        with exclusive(self._lock):
            self._save({**self._read(), site: invitation})
        return f"{PREFIX}.{site}.{secret}", invitation.expires_at

    def redeem(self, token: str) -> str:
        """The site that a token invites; it counts no more after that."""
        prefix, _, rest = token.partition(".")
        site, _, secret = rest.rpartition(".")
        with exclusive(self._lock):
            known = self._read()
            invitation = known.get(site)
            expected = invitation.secret_sha256 if invitation else _hash("")
            matches = hmac.compare_digest(_hash(secret), expected)
            if prefix != PREFIX or invitation is None or not matches or invitation.expires_at <= _now():
                raise Unauthenticated(
                    "The invitation is not valid (any more)", "Ask at the centre for another one."
                )
            self._save({name: each for name, each in known.items() if name != site})
        return site

    def _read(self) -> dict[str, Invitation]:
        try:
            return _INVITATIONS.validate_json(self._file.read_bytes())
        except FileNotFoundError:
            return {}

    def _save(self, invitations: dict[str, Invitation]) -> None:
        current = {name: each for name, each in invitations.items() if each.expires_at > _now()}
        write_private(self._file, _INVITATIONS.dump_json(current, indent=2))


def _hash(secret: str) -> str:
    # 256 random bits: a fast hash is as good as a slow one.
    return hashlib.sha256(secret.encode()).hexdigest()


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
