"""The certificates of a node and until when each is valid."""

import datetime
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from pydantic import BaseModel, Field

from catchment.security import centres, consumers, providers


class Bearer(StrEnum):
    """What shows a certificate."""

    AUTHORITY = "authority"
    PART = "part"
    PROVIDER = "provider"
    CONSUMER = "consumer"
    CENTRE = "centre"
    SITE = "site"


_PREFIXES = {
    providers.PARTY_PREFIX: Bearer.PROVIDER,
    consumers.PARTY_PREFIX: Bearer.CONSUMER,
    centres.PARTY_PREFIX: Bearer.CENTRE,
}


class CertificateSummary(BaseModel, frozen=True):
    """A certificate, without its key."""

    name: str = Field(description="Who shows it; of a site, the one whose relay is shown it.")
    kind: Bearer
    expires_at: datetime.datetime
    days_left: int = Field(description="Less than 0 when it has expired.")
    fingerprint: str = Field(description="SHA-256 of its DER form.")


def certificates(identities: Path, site_identities: Path) -> list[CertificateSummary]:
    """Those of a data directory, the one that expires first first."""
    return sorted(_all(identities, site_identities), key=lambda each: (each.expires_at, each.name))


def _all(identities: Path, site_identities: Path) -> Iterator[CertificateSummary]:
    for file in identities.glob("*.crt"):
        yield _summary(file, *_bearer(file.stem))
    for file in site_identities.glob("*/relay.crt"):
        yield _summary(file, file.parent.name, Bearer.SITE)


def _bearer(party: str) -> tuple[str, Bearer]:
    for prefix, kind in _PREFIXES.items():
        if party.startswith(prefix):
            return party.removeprefix(prefix), kind
    return party, Bearer.AUTHORITY if party == "ca" else Bearer.PART


def _summary(file: Path, name: str, kind: Bearer) -> CertificateSummary:
    certificate = x509.load_pem_x509_certificate(file.read_bytes())
    expires_at = certificate.not_valid_after_utc
    return CertificateSummary(
        name=name,
        kind=kind,
        expires_at=expires_at,
        days_left=(expires_at - datetime.datetime.now(datetime.UTC)).days,
        fingerprint=certificate.fingerprint(hashes.SHA256()).hex(),
    )
