"""Which sites a centre relays from: a register, and beside it the identity that each site gave out."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from catchment.errors import ConfigurationError, NotFound
from catchment.records import check_name
from catchment.security.authority import Identity
from catchment.security.files import exclusive, write_private


class Site(BaseModel, frozen=True):
    """A site as the centre knows it."""

    name: str
    bootstrap_servers: str
    paused: bool = False


_SITES = TypeAdapter(dict[str, Site])


@dataclass(frozen=True)
class IdentityFiles:
    """What a site's invitation consists of, by the names that it is written under."""

    directory: Path

    @property
    def identity(self) -> Identity:
        names = ("ca.crt", "relay.crt", "relay.key")
        return Identity(*(self.directory / name for name in names))

    def fill_from(self, other: Identity) -> None:
        """Copies an identity, so that the original may be deleted."""
        mine = self.identity
        pairs = {
            mine.ca_file: other.ca_file,
            mine.certificate_file: other.certificate_file,
            mine.key_file: other.key_file,
        }
        for target, content in {target: _read(source) for target, source in pairs.items()}.items():
            write_private(target, content)


class Sites:
    """The register of sites; a running relay reads it anew when it changed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = file.with_suffix(".lock")
        self._identities = file.with_suffix("")

    def add(self, name: str, bootstrap_servers: str, identity: Identity) -> None:
        """Registers a site, or gives a known one another address or identity."""
        check_name("site", name)
        self._files_of(name).fill_from(identity)
        with exclusive(self._lock):
            known = self.all()
            paused = name in known and known[name].paused
            self._save(known | {name: Site(name=name, bootstrap_servers=bootstrap_servers, paused=paused)})

    def pause(self, name: str, paused: bool) -> None:
        """Holds a site's relay, or lets it go on where it was."""
        with exclusive(self._lock):
            site = self._find(name)
            self._save(self.all() | {name: site.model_copy(update={"paused": paused})})

    def remove(self, name: str) -> None:
        """Forgets a site and its identity. What was relayed stays, and so does how far that was."""
        with exclusive(self._lock):
            self._find(name)
            self._save({key: site for key, site in self.all().items() if key != name})
        shutil.rmtree(self._files_of(name).directory, ignore_errors=True)

    def all(self) -> dict[str, Site]:
        try:
            return _SITES.validate_json(self._file.read_bytes())
        except FileNotFoundError:
            return {}

    def identity_of(self, name: str) -> Identity:
        return self._files_of(name).identity

    def version_of(self, name: str) -> int:
        """Changes with the site's identity, so that a running relay notices another one."""
        try:
            return self.identity_of(name).key_file.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    def _find(self, name: str) -> Site:
        site = self.all().get(name)
        if site is None:
            raise NotFound(f"There is no site {name!r}", "`catchment site list` shows those there are.")
        return site

    def _files_of(self, name: str) -> IdentityFiles:
        return IdentityFiles(self._identities / name)

    def _save(self, sites: dict[str, Site]) -> None:
        write_private(self._file, _SITES.dump_json(dict(sorted(sites.items())), indent=2))


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"{file} cannot be read: {error.strerror}",
            "Name the folder that `catchment site invite` wrote at the site, or each file by itself.",
        ) from None
