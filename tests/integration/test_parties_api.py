"""Who may send, read and relay, over HTTPS: certificates that are told once, and what becomes of them."""

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka.admin import AdminClient
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from catchment.config import Config
from catchment.errors import AccessRefused
from catchment.kafka.identities import bootstrap_servers
from catchment.records import Kind
from catchment.security.providers import Providers
from catchment.security.tokens import Scope
from tests.integration.test_api import assert_problem
from tests.serving import ServedNode, serve

PATIENCE_S = 15.0


@pytest.fixture(scope="module")
def node(cluster: Config) -> Iterator[ServedNode]:
    with serve(cluster, with_tables=True) as served:
        yield served


@pytest.fixture
def client(node: ServedNode) -> Iterator[httpx.Client]:
    with node.client(node.token()) as opened:
        opened.base_url = httpx.URL(f"{node.url}/api/v1")
        yield opened


def der_of(identity: dict[str, str]) -> bytes:
    return x509.load_pem_x509_certificate(identity["certificate"].encode()).public_bytes(Encoding.DER)


def assert_nowhere_kept(node: ServedNode, identity: dict[str, str]) -> None:
    """Neither a file of the node nor its audit log has the key that was told."""
    middle = identity["key"].splitlines()[1].encode()
    files = [file for file in node.config.data_dir.rglob("*") if file.is_file()]
    assert files
    assert [file for file in files if middle in _content(file)] == []


def _content(file: Path) -> bytes:
    # The journal of the audit log goes as soon as its entries are in Kafka.
    with suppress(FileNotFoundError):
        return file.read_bytes()
    return b""


def names(client: httpx.Client, kind: str) -> list[str]:
    return [each["name"] for each in client.get(f"/{kind}").json()["items"]]


def test_a_provider_gets_a_certificate_whose_key_is_told_once(node: ServedNode, client: httpx.Client) -> None:
    made = client.put("/providers/press-9")
    assert made.status_code == 201
    assert made.headers["cache-control"] == "no-store"
    assert made.json()["port"] == node.config.gateway.port
    identity = made.json()["identity"]
    load_pem_private_key(identity["key"].encode(), password=None)
    listener = Providers(node.config.paths.providers)
    assert listener.name_of(der_of(identity)) == "press-9"
    assert_nowhere_kept(node, identity)
    assert identity["key"] not in client.get("/providers").text

    replaced = client.put("/providers/press-9").json()["identity"]
    assert listener.name_of(der_of(replaced)) == "press-9"
    with pytest.raises(AccessRefused):
        listener.name_of(der_of(identity))
    assert client.delete("/providers/press-9").status_code == 204
    assert "press-9" not in names(client, "providers")
    assert_problem(client.delete("/providers/press-9"), 404, "not-found")
    with pytest.raises(AccessRefused):
        listener.name_of(der_of(replaced))


def visible_topics(node: ServedNode, identity: dict[str, str], folder: Path) -> set[str]:
    """The topics that Kafka shows to whoever has this certificate."""
    for name, content in identity.items():
        (folder / name).write_text(content)
    settings: dict[str, str | int | float | bool] = {
        "bootstrap.servers": bootstrap_servers(node.config),
        "security.protocol": "ssl",
        "ssl.ca.location": str(folder / "ca"),
        "ssl.certificate.location": str(folder / "certificate"),
        "ssl.key.location": str(folder / "key"),
    }
    return set(AdminClient(settings).list_topics(timeout=PATIENCE_S).topics)


def test_a_consumer_reads_what_it_was_let_read(
    node: ServedNode, client: httpx.Client, tmp_path: Path
) -> None:
    made = client.put("/consumers/analyst-9", json={"topics": ["records", "alerts"]})
    assert made.status_code == 201
    first = made.json()
    assert (first["granted"], first["groups"]) == (True, "analyst-9/")
    assert visible_topics(node, first["identity"], tmp_path) == {Kind.RECORDS.topic, Kind.ALERTS.topic}
    assert_nowhere_kept(node, first["identity"])

    changed = client.put("/consumers/analyst-9", json={"topics": ["alerts"]})
    assert (changed.status_code, changed.json()["identity"]) == (200, None)
    assert visible_topics(node, first["identity"], tmp_path) == {Kind.ALERTS.topic}
    another = client.post("/consumers/analyst-9/certificate").json()["identity"]
    assert visible_topics(node, another, tmp_path) == {Kind.ALERTS.topic}

    assert client.delete("/consumers/analyst-9").status_code == 204
    assert "analyst-9" not in names(client, "consumers")
    assert visible_topics(node, another, tmp_path) == set()
    assert_problem(client.put("/consumers/analyst-9", json={}), 409, "conflict")
    assert_problem(client.put("/consumers/operator", json={}), 409, "conflict")
    assert_problem(client.post("/consumers/nobody/certificate"), 404, "not-found")


def test_nobody_lets_others_read_what_they_may_not(node: ServedNode) -> None:
    with node.client(node.token("clerk", frozenset({Scope.PARTIES_WRITE, Scope.DATA_READ}))) as clerk:
        for topic in ("audit", "deadletter"):
            refused = clerk.put("/api/v1/consumers/curious", json={"topics": ["records", topic]})
            assert_problem(refused, 403, "access-refused")
        assert_problem(clerk.get("/api/v1/consumers"), 403, "access-refused")
    with node.client(node.token()) as client:
        assert "curious" not in client.get("/api/v1/consumers").text


CHANGES: list[tuple[str, str, Any]] = [
    ("PUT", "/providers/x", None),
    ("DELETE", "/providers/x", None),
    ("PUT", "/consumers/x", {}),
    ("POST", "/consumers/x/certificate", None),
    ("DELETE", "/consumers/x", None),
    ("PUT", "/centres/x", None),
    ("POST", "/centres/x/join", {"url": "https://x", "token": "x", "fingerprint": "0" * 64}),
    ("DELETE", "/centres/x", None),
    ("PUT", "/sites/x", {"bootstrap_servers": "x:1", "ca": "", "certificate": "", "key": ""}),
]


@pytest.mark.parametrize(("method", "path", "body"), CHANGES)
def test_whoever_lacks_the_scope_changes_nothing(node: ServedNode, method: str, path: str, body: Any) -> None:
    reading = frozenset(scope for scope in Scope if scope.value.endswith(":read"))
    with node.client(node.token("reader", reading)) as reader:
        assert_problem(reader.request(method, f"/api/v1{path}", json=body), 403, "access-refused")
        for kind in ("providers", "consumers", "centres", "sites"):
            assert "x" not in [each["name"] for each in reader.get(f"/api/v1/{kind}").json()["items"]]
    with node.client() as nobody:
        assert_problem(nobody.request(method, f"/api/v1{path}", json=body), 401, "unauthenticated")


def test_a_site_invites_a_centre_which_registers_it(node: ServedNode, client: httpx.Client) -> None:
    invited = client.put("/centres/hq-9")
    assert invited.status_code == 201
    given = invited.json()
    assert given["granted"] is True
    assert "hq-9" in names(client, "centres")
    assert_nowhere_kept(node, given["identity"])
    spec = {"bootstrap_servers": given["bootstrap_servers"], **given["identity"]}
    assert client.put("/sites/far-9", json=spec).status_code == 204
    assert "far-9" in names(client, "sites")
    wrong = client.put("/sites/far-8", json={**spec, "key": "no key"})
    assert_problem(wrong, 422, "invalid-request")
    assert "no key" not in wrong.text

    assert client.delete("/sites/far-9").status_code == 204
    assert client.delete("/centres/hq-9").status_code == 204
    assert_problem(client.put("/centres/hq-9"), 409, "conflict")


def test_a_site_joins_the_centre_that_invited_it(node: ServedNode, client: httpx.Client) -> None:
    site = node.config.site
    command = client.post(f"/sites/{site}/invitation", json={}).json()["command"]
    found = re.search(r"join (\S+) .* --token (\S+) --fingerprint (\S+)", command)
    assert found
    url, token, fingerprint = found.groups()
    said = {"url": url, "token": token, "fingerprint": fingerprint}
    assert_problem(
        client.post("/centres/hq-7/join", json={**said, "fingerprint": "0" * 64}), 403, "access-refused"
    )
    for wrong in ("http://x", "https://x:70000", "https://[::zz]", "https://x:0", "https://u:p@x"):
        assert_problem(client.post("/centres/hq-7/join", json={**said, "url": wrong}), 422, "invalid-request")
    for away in ("https://a..b", "https://localhost:9"):
        assert_problem(client.post("/centres/hq-7/join", json={**said, "url": away}), 503, "node-not-running")
    joined = client.post("/centres/hq-7/join", json=said)
    assert (joined.status_code, joined.json()) == (200, {"name": "hq-7", "granted": True})
    assert site in names(client, "sites")
    # The token counted once.
    assert_problem(client.post("/centres/hq-7/join", json=said), 401, "unauthenticated")
    assert client.delete(f"/sites/{site}").status_code == 204
    assert client.delete("/centres/hq-7").status_code == 204


def test_what_was_changed_is_in_the_audit_log_without_its_secrets(client: httpx.Client) -> None:
    identity = client.put("/providers/noted").json()["identity"]
    client.delete("/providers/noted")
    deadline_s = time.monotonic() + PATIENCE_S
    while len(items := client.get("/audit", params={"what": "providers/noted"}).json()["items"]) < 2:
        assert time.monotonic() < deadline_s
        time.sleep(0.1)
    assert [each["what"] for each in items] == ["delete_provider", "put_provider"]
    assert identity["key"].splitlines()[1] not in str(items)
