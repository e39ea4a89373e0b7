"""Our own certificate authority, and the identities that it issues.

A party is known by the common name of its certificate: `gateway`, `pipeline`, `api`, … for the parts of
a node, `provider.NAME` for a device that may talk to a gateway. Kafka, the listener and we ourselves all
read the same name.
"""

import datetime
import ipaddress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from catchment.security.files import exclusive, write_private

AUTHORITY_LIFETIME = datetime.timedelta(days=3650)
LIFETIME = datetime.timedelta(days=365)
RENEW_BEFORE_EXPIRY = datetime.timedelta(days=30)


@dataclass(frozen=True)
class Identity:
    """The files of one party."""

    ca_file: Path
    certificate_file: Path
    key_file: Path

    @property
    def java_file(self) -> Path:
        """Key, certificate and authority in one file, as Java wants them."""
        return self.key_file.with_suffix(".pem")


@dataclass(frozen=True)
class Credentials:
    """What one party signs in with, in PEM, to be handed out at once: nothing of the key is kept here."""

    ca: str
    certificate: str
    key: str = field(repr=False)


class Authority:
    """Issues certificates from a key that never leaves the data directory."""

    def __init__(self, directory: Path, hostnames: list[str] | None = None) -> None:
        self.directory = directory
        self.ca_file = directory / "ca.crt"
        self._key_file = directory / "ca.key"
        self._hostnames = ["localhost", "127.0.0.1", *(hostnames or [])]

    def identity(self, party: str) -> Identity:
        """The identity of a party, issued now if there is none or if it expires soon."""
        identity = self.files_of(party)
        # The parts of a node start at the same time: one of them founds the authority.
        with exclusive(self.directory / "authority.lock"):
            if self._needs_issue(identity):
                self._issue(party, identity)
        return identity

    def hand_out(self, party: str) -> Credentials:
        """A new certificate for a party, with a key that is on no disk here."""
        with exclusive(self.directory / "authority.lock"):
            key, certificate = self._certified(party)
        return Credentials(
            ca=self.ca_file.read_text(), certificate=_pem(certificate).decode(), key=_key_pem(key).decode()
        )

    def forget(self, party: str) -> None:
        """Deletes the files of a party, if it has any."""
        identity = self.files_of(party)
        for file in (identity.key_file, identity.certificate_file, identity.java_file):
            file.unlink(missing_ok=True)

    def files_of(self, party: str) -> Identity:
        """Where the identity of a party is kept, whether it has been issued or not."""
        stem = self.directory / party
        return Identity(self.ca_file, stem.with_name(f"{party}.crt"), stem.with_name(f"{party}.key"))

    @cached_property
    def _authority(self) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
        if not self._key_file.exists():
            self._found()
        key = serialization.load_pem_private_key(self._key_file.read_bytes(), password=None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        return x509.load_pem_x509_certificate(self.ca_file.read_bytes()), key

    def _found(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("catchment-authority")
        usage = _key_usage(key_cert_sign=True, crl_sign=True)
        certificate = (
            _builder(name, name, key.public_key(), AUTHORITY_LIFETIME)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(key, hashes.SHA256())
        )
        # The key goes last: while it is missing the authority does not exist yet.
        write_private(self.ca_file, _pem(certificate))
        write_private(self._key_file, _key_pem(key))

    def _needs_issue(self, identity: Identity) -> bool:
        if not identity.java_file.exists() or not identity.certificate_file.exists():
            return True
        certificate = x509.load_pem_x509_certificate(identity.certificate_file.read_bytes())
        issuer, _ = self._authority
        if certificate.issuer != issuer.subject or not _names_all(certificate, self._hostnames):
            return True
        return certificate.not_valid_after_utc - _now() < RENEW_BEFORE_EXPIRY

    def _issue(self, party: str, identity: Identity) -> None:
        issuer, _ = self._authority
        key, certificate = self._certified(party)
        write_private(identity.key_file, _key_pem(key))
        write_private(identity.certificate_file, _pem(certificate))
        write_private(identity.java_file, _key_pem(key) + _pem(certificate) + _pem(issuer))

    def _certified(self, party: str) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
        issuer, issuer_key = self._authority
        key = ec.generate_private_key(ec.SECP256R1())
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
        certificate = (
            _builder(_name(party), issuer.subject, key.public_key(), LIFETIME)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(digital_signature=True), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(x509.SubjectAlternativeName(_general_names(self._hostnames)), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False
            )
            .sign(issuer_key, hashes.SHA256())
        )
        return key, certificate


def fingerprint(certificate_der: bytes) -> str:
    """How a certificate is written down: SHA-256 of its DER form."""
    return x509.load_der_x509_certificate(certificate_der).fingerprint(hashes.SHA256()).hex()


def _builder(
    subject: x509.Name, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey, lifetime: datetime.timedelta
) -> x509.CertificateBuilder:
    now = _now()
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        # A site's clock may be behind by a little; an hour is harmless.
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + lifetime)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
    )


def _key_usage(
    *, digital_signature: bool = False, key_cert_sign: bool = False, crl_sign: bool = False
) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_names(hostnames: list[str]) -> list[x509.GeneralName]:
    return [_general_name(name) for name in dict.fromkeys(hostnames)]


def _general_name(hostname: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(hostname))
    except ValueError:
        return x509.DNSName(hostname)


def _names_all(certificate: x509.Certificate, hostnames: list[str]) -> bool:
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return set(_general_names(hostnames)) <= set(names)


def _name(party: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, party)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)
