"""Identities are issued once, whoever asks at the same time; those of an existing cluster are only used."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from catchment.errors import ConfigurationError
from catchment.kafka.identities import advertised_host, bootstrap_servers, identity_of, java_file_of
from catchment.kafka.parties import Party
from catchment.security.authority import Authority
from tests.conftest import MakeConfig

ASKERS = 8


def test_parts_that_start_together_get_one_authority_and_whole_identities(tmp_path: Path) -> None:
    together = threading.Barrier(ASKERS)

    def ask(number: int) -> None:
        together.wait()
        Authority(tmp_path).identity("gateway" if number % 2 else "api")

    with ThreadPoolExecutor(ASKERS) as askers:
        list(askers.map(ask, range(ASKERS)))
    authority = x509.load_pem_x509_certificate((tmp_path / "ca.crt").read_bytes())
    for party in ("gateway", "api"):
        certificate = x509.load_pem_x509_certificate((tmp_path / f"{party}.crt").read_bytes())
        key = serialization.load_pem_private_key((tmp_path / f"{party}.key").read_bytes(), password=None)
        certificate.verify_directly_issued_by(authority)
        assert certificate.public_key() == key.public_key()
        assert (tmp_path / f"{party}.crt").read_text() in (tmp_path / f"{party}.pem").read_text()


def test_a_broker_on_every_address_tells_clients_its_first_name(make_config: MakeConfig) -> None:
    config = make_config(kafka={"host": "0.0.0.0", "port": 9092}, hostnames=["oslo.example", "10.0.0.5"])
    assert bootstrap_servers(config) == "oslo.example:9092"
    names = x509.load_pem_x509_certificate(identity_of(config, Party.BROKER).certificate_file.read_bytes())
    extension = names.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert "oslo.example" in extension.get_values_for_type(x509.DNSName)


def test_a_broker_on_every_address_without_a_name_is_refused(make_config: MakeConfig) -> None:
    with pytest.raises(ConfigurationError, match="hostnames"):
        advertised_host(make_config(kafka={"host": "::"}))


def test_an_ipv6_address_is_bracketed(make_config: MakeConfig) -> None:
    assert bootstrap_servers(make_config(kafka={"host": "::1", "port": 9092})) == "[::1]:9092"


def _existing(directory: Path, key: bytes) -> dict[str, object]:
    given = Authority(directory).identity("someone")
    key_file = directory / "given.key"
    key_file.write_bytes(key)
    files = {
        "ca_file": given.ca_file,
        "certificate_file": given.certificate_file,
        "key_file": key_file,
    }
    return {"bootstrap_servers": "kafka.example:9093", "tls": files}


def test_a_key_in_an_older_form_is_rewritten_for_java(make_config: MakeConfig, tmp_path: Path) -> None:
    older = rsa.generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    config = make_config(kafka=_existing(tmp_path, older))
    combined = java_file_of(config, Party.PIPELINE)
    assert combined.stat().st_mode & 0o777 == 0o600
    text = combined.read_text()
    assert text.startswith("-----BEGIN PRIVATE KEY-----")
    assert text.count("-----BEGIN CERTIFICATE-----") == 2


def test_a_key_that_is_none_is_refused(make_config: MakeConfig, tmp_path: Path) -> None:
    config = make_config(kafka=_existing(tmp_path, b"not a key"))
    with pytest.raises(ConfigurationError, match=r"kafka\.tls\.key_file"):
        java_file_of(config, Party.PIPELINE)


def test_a_missing_file_is_named_with_its_key(make_config: MakeConfig, tmp_path: Path) -> None:
    kafka = _existing(tmp_path, b"")
    (tmp_path / "given.key").unlink()
    with pytest.raises(ConfigurationError, match=r"kafka\.tls\.key_file.*No such file"):
        identity_of(make_config(kafka=kafka), Party.GATEWAY)
