"""Which data providers may talk to a gateway: each by name and the one certificate that counts."""

from pathlib import Path

import orjson
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from catchment.errors import AccessRefused, NotFound
from catchment.records import check_name
from catchment.security.authority import Authority, Credentials, Identity, fingerprint
from catchment.security.files import exclusive, write_private

PARTY_PREFIX = "provider."


class Providers:
    """The register of providers; read anew when it changed, so that a removal counts at once."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read_at_ns = -1
        self._fingerprints: dict[str, str] = {}

    def add(self, name: str, authority: Authority) -> Identity:
        """Registers a provider and issues its certificate; an earlier one of that name stops counting."""
        check_name("provider", name)
        identity = authority.identity(PARTY_PREFIX + name)
        self._register(name, identity.certificate_file.read_bytes())
        return identity

    def hand_out(self, name: str, authority: Authority) -> Credentials:
        """The same with a new certificate, whose key is kept nowhere here."""
        check_name("provider", name)
        credentials = authority.hand_out(PARTY_PREFIX + name)
        self._register(name, credentials.certificate.encode())
        authority.forget(PARTY_PREFIX + name)
        return credentials

    def remove(self, name: str, authority: Authority) -> None:
        """From now on the provider is refused, and a later one of that name gets another certificate."""
        with exclusive(self._lock):
            current = dict(self._current())
            if current.pop(name, None) is None:
                raise NotFound(
                    f"There is no provider {name!r}", "`catchment provider list` shows those there are."
                )
            self._save(current)
        authority.forget(PARTY_PREFIX + name)

    def names(self) -> list[str]:
        return sorted(self._current())

    def name_of(self, certificate_der: bytes) -> str:
        """The provider behind a certificate that our authority signed, or a refusal."""
        shown = fingerprint(certificate_der)
        for name, registered in self._current().items():
            if shown == registered:
                return name
        raise AccessRefused(
            "The certificate is not that of a registered provider",
            "Register the provider with `catchment provider add NAME` and use that certificate.",
        )

    @property
    def _lock(self) -> Path:
        return self._file.with_suffix(".lock")

    def _register(self, name: str, certificate_pem: bytes) -> None:
        certificate = x509.load_pem_x509_certificate(certificate_pem)
        with exclusive(self._lock):
            self._save({**self._current(), name: fingerprint(certificate.public_bytes(Encoding.DER))})

    def _current(self) -> dict[str, str]:
        try:
            changed_at_ns = self._file.stat().st_mtime_ns
        except FileNotFoundError:
            return {}
        if changed_at_ns != self._read_at_ns:
            self._fingerprints = orjson.loads(self._file.read_bytes())
            self._read_at_ns = changed_at_ns
        return self._fingerprints

    def _save(self, fingerprints: dict[str, str]) -> None:
        write_private(self._file, orjson.dumps(fingerprints, option=orjson.OPT_INDENT_2))
