"""The register of providers: one certificate counts for each name."""

import json
import shutil
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from catchment.errors import AccessRefused, InvalidRecord, NotFound
from catchment.security.authority import Authority, Identity
from catchment.security.providers import Providers

RunCatchment = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "identities")


@pytest.fixture
def providers(tmp_path: Path) -> Providers:
    return Providers(tmp_path / "providers.json")


def der_of(identity: Identity) -> bytes:
    return x509.load_pem_x509_certificate(identity.certificate_file.read_bytes()).public_bytes(Encoding.DER)


def test_a_provider_is_known_by_its_certificate(providers: Providers, authority: Authority) -> None:
    identity = providers.add("press-1", authority)
    assert providers.name_of(der_of(identity)) == "press-1"
    assert providers.names() == ["press-1"]
    assert identity.key_file.stat().st_mode & 0o777 == 0o600


def test_adding_twice_changes_nothing(providers: Providers, authority: Authority) -> None:
    assert der_of(providers.add("press-1", authority)) == der_of(providers.add("press-1", authority))


def test_a_certificate_of_ours_that_is_no_provider_s_is_refused(
    providers: Providers, authority: Authority
) -> None:
    providers.add("press-1", authority)
    for party in ("gateway", "provider.press-2"):
        with pytest.raises(AccessRefused):
            providers.name_of(der_of(authority.identity(party)))


def test_a_removed_provider_is_refused_and_comes_back_with_another_certificate(
    providers: Providers, authority: Authority, tmp_path: Path
) -> None:
    listener = Providers(tmp_path / "providers.json")
    old = der_of(providers.add("press-1", authority))
    assert listener.name_of(old) == "press-1"
    providers.remove("press-1", authority)
    with pytest.raises(AccessRefused):
        listener.name_of(old)
    new = der_of(providers.add("press-1", authority))
    assert listener.name_of(new) == "press-1"
    with pytest.raises(AccessRefused):
        listener.name_of(old)


def test_a_key_that_is_handed_out_is_on_no_disk(
    providers: Providers, authority: Authority, tmp_path: Path
) -> None:
    kept = der_of(providers.add("press-1", authority))
    given = providers.hand_out("press-1", authority)
    shown = x509.load_pem_x509_certificate(given.certificate.encode()).public_bytes(Encoding.DER)
    assert providers.name_of(shown) == "press-1"
    with pytest.raises(AccessRefused):
        providers.name_of(kept)
    secret = given.key.splitlines()[1]
    assert secret not in repr(given)
    assert [file for file in tmp_path.rglob("*") if file.is_file() and secret in file.read_text()] == []
    assert [file.name for file in authority.directory.glob("provider.*")] == []


def test_what_cannot_be(providers: Providers, authority: Authority) -> None:
    with pytest.raises(NotFound, match="no provider 'nobody'"):
        providers.remove("nobody", authority)
    with pytest.raises(InvalidRecord, match="not a provider name"):
        providers.add("../etc", authority)


def test_the_command_adds_lists_and_removes(run_catchment: RunCatchment, tmp_path: Path) -> None:
    added = json.loads(run_catchment("provider", "add", "press-1", "--json").stdout)
    context = ssl.create_default_context(cafile=added["authority"])
    context.load_cert_chain(added["certificate"], added["key"])
    text = run_catchment("provider", "add", "press-1").stdout
    assert "openssl s_client" in text
    assert all(added[what] in text for what in ("certificate", "key", "authority"))
    assert json.loads(run_catchment("provider", "list", "--json").stdout) == [{"name": "press-1"}]
    assert run_catchment("provider", "remove", "press-1").returncode == 0
    assert run_catchment("provider", "remove", "press-1").returncode == 1
    assert json.loads(run_catchment("provider", "list", "--json").stdout) == []
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


def test_an_odd_name_is_wrong_usage(run_catchment: RunCatchment) -> None:
    result = run_catchment("provider", "add", "a b")
    assert result.returncode == 2
    assert "'a b' is not a valid name" in result.stderr


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
def test_openssl_accepts_the_certificate(run_catchment: RunCatchment) -> None:
    added = json.loads(run_catchment("provider", "add", "press-1", "--json").stdout)
    command = ["openssl", "verify", "-x509_strict", "-CAfile", added["authority"], added["certificate"]]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
