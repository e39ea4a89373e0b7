"""Which centres may relay from this site, each by name."""

from pathlib import Path

import orjson

from catchment.errors import Conflict, NotFound
from catchment.records import check_name
from catchment.security.authority import Authority, Credentials, Identity
from catchment.security.files import exclusive, write_private

PARTY_PREFIX = "relay."


class Centres:
    """The register of invited centres.

    Kafka knows a centre by its name alone, so a certificate that was given away counts for as long as the
    name has rights. A name that was withdrawn is therefore remembered, and never invited again.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def invite(self, name: str, authority: Authority) -> Identity:
        """Registers a centre and issues its certificate."""
        self._invite(name)
        return authority.identity(PARTY_PREFIX + name)

    def hand_out(self, name: str, authority: Authority) -> Credentials:
        """The same with a new certificate, whose key is kept nowhere here."""
        self._invite(name)
        return authority.hand_out(PARTY_PREFIX + name)

    def withdraw(self, name: str, authority: Authority) -> None:
        """Takes all rights from a centre, for good, and deletes its certificate."""
        with exclusive(self._lock):
            if name not in self.names():
                raise NotFound(
                    f"No centre {name!r} is invited", f"Those that are: {', '.join(self.names()) or 'none'}."
                )
            self._save({**self._read(), name: False})
        authority.forget(PARTY_PREFIX + name)

    def names(self) -> list[str]:
        return sorted(name for name, invited in self._read().items() if invited)

    def _invite(self, name: str) -> None:
        check_name("centre", name)
        with exclusive(self._lock):
            invited = self._read()
            if not invited.get(name, True):
                raise Conflict(
                    f"The centre {name!r} was withdrawn, and its certificate would count again",
                    "Take another name.",
                )
            self._save({**invited, name: True})

    @property
    def _lock(self) -> Path:
        return self._file.with_suffix(".lock")

    def _read(self) -> dict[str, bool]:
        try:
            register: dict[str, bool] = orjson.loads(self._file.read_bytes())
        except FileNotFoundError:
            return {}
        return register

    def _save(self, register: dict[str, bool]) -> None:
        write_private(self._file, orjson.dumps(register, option=orjson.OPT_INDENT_2))
