"""The API over HTTPS: who is let in, what is refused and how, and what a page is told live."""

import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import orjson
import pytest

from catchment.api.access import COOKIE
from catchment.api.guard import HEADERS, MAX_BODY_BYTES
from catchment.config import Config
from catchment.health import State, ask
from catchment.node.status import Component
from catchment.security.tokens import Scope
from tests.conftest import MakeConfig
from tests.serving import ServedNode, row, serve

SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def served(make_config: MakeConfig) -> Iterator[ServedNode]:
    with serve(make_config()) as node:
        yield node


@pytest.fixture
def node(served: ServedNode) -> ServedNode:
    """A node that many tests share, without what the ones before put into it."""
    served.reset()
    return served


@pytest.fixture
def own_node(make_config: MakeConfig) -> Iterator[ServedNode]:
    """A node for a test that leaves it unfit for others."""
    with serve(make_config()) as node:
        yield node


def sign_in(node: ServedNode, client: httpx.Client, name: str = "tester") -> httpx.Response:
    return client.post("/api/v1/session", json={"token": node.token(name)}, headers=SAME_ORIGIN)


def assert_problem(response: httpx.Response, status: int, code: str) -> None:
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    problem = response.json()
    assert (problem["status"], problem["code"]) == (status, code)
    assert problem["detail"]


# Reading


def test_probes_need_no_token(node: ServedNode) -> None:
    with node.client() as client:
        assert client.get("/ping").text == "pong"
        assert client.get("/ready").status_code == 503


def test_a_service_that_has_not_read_all_is_not_ready_and_says_what_it_waits_for(node: ServedNode) -> None:
    """Here is no broker: the tables of what was declared are never read."""
    with node.client() as client:
        without_tables = client.get("/ready")
        node.ledger.caught_up = False
        without_any = client.get("/ready")
    assert (without_tables.status_code, without_any.status_code) == (503, 503)
    assert without_tables.json() == {"ready": False, "reading": ["declarations"]}
    assert without_any.json() == {"ready": False, "reading": ["ledger", "declarations"]}


def test_status_is_what_the_supervisor_says(node: ServedNode) -> None:
    node.components.append(Component(name="pipeline", state=State.RESTARTING, detail="exit code 1"))
    with node.client(node.token()) as client:
        status = client.get("/api/v1/status").json()
    assert status["ready"] is False
    assert {each["name"]: each["state"] for each in status["components"]} == {
        "broker": "running",
        "gateway": "running",
        "pipeline": "restarting",
    }


def test_status_without_a_supervisor(own_node: ServedNode) -> None:
    own_node.config.paths.socket("node").unlink()
    with own_node.client(own_node.token()) as client:
        assert_problem(client.get("/api/v1/status"), 503, "node-not-running")


def test_the_ledger_is_read_page_by_page(node: ServedNode) -> None:
    for number in range(5):
        node.ledger.put(row(f"stream-{number}", received=number + 1, gaps=[(2, 3)]))
    seen: list[str] = []
    cursor: str | None = ""
    with node.client(node.token()) as client:
        while cursor is not None:
            parameters: dict[str, str | int] = {"limit": 2, "cursor": cursor} if cursor else {"limit": 2}
            page = client.get("/api/v1/ledger", params=parameters).json()
            assert all(item["gaps"] == [[2, 3]] for item in page["items"])
            seen += [item["stream"] for item in page["items"]]
            cursor = page["next"]
    assert seen == [f"stream-{number}" for number in range(5)]


@pytest.mark.parametrize("query", ["limit=0", "limit=many", "cursor=nonsense", "cursor=W10="])
def test_wrong_queries_are_refused(node: ServedNode, query: str) -> None:
    with node.client(node.token()) as client:
        assert_problem(client.get(f"/api/v1/ledger?{query}"), 422, "invalid-request")


def test_metrics_of_all_parts(node: ServedNode) -> None:
    with node.client(node.token()) as client:
        lines = client.get("/metrics").text.splitlines()
    assert 'catchment_restarts_total{part="node"} 3.0' in lines
    assert 'catchment_part_up{part="gateway"} 0.0' in lines
    assert any(line.startswith("catchment_api_requests_total{") and 'part="api"' in line for line in lines)


# Who is let in


@pytest.mark.parametrize("path", ["/metrics", "/api/v1/status", "/api/v1/ledger", "/api/v1/live"])
@pytest.mark.parametrize(
    "authorization", [None, "Bearer nonsense", "Bearer ctm.tester.wrong", "Basic dGVzdGVyOng="]
)
def test_no_valid_token_no_answer(node: ServedNode, path: str, authorization: str | None) -> None:
    node.token()
    with node.client() as client:
        response = client.get(path, headers={"Authorization": authorization} if authorization else {})
    assert_problem(response, 401, "unauthenticated")
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("/metrics", Scope.METRICS_READ),
        ("/api/v1/status", Scope.STATUS_READ),
        ("/api/v1/configuration", Scope.SITES_WRITE),
        ("/api/v1/ledger", Scope.LEDGER_READ),
        ("/api/v1/proof/recount", Scope.LEDGER_READ),
        ("/api/v1/live", Scope.LEDGER_READ),
        ("/api/v1/live", Scope.STATUS_READ),
    ],
)
def test_a_scope_that_is_lacking_is_named(node: ServedNode, path: str, scope: Scope) -> None:
    with node.client(node.token(scopes=frozenset(Scope) - {scope})) as client:
        response = client.get(path)
    assert_problem(response, 403, "access-refused")
    assert scope.value in response.json()["detail"]


def test_a_session_does_what_its_token_may(node: ServedNode) -> None:
    with node.client() as client:
        signed_in = sign_in(node, client)
        assert signed_in.status_code == 201
        assert client.get("/api/v1/status").status_code == 200
        assert client.get("/api/v1/session").json()["name"] == "tester"
    cookie = signed_in.headers["set-cookie"]
    for attribute in (f"{COOKIE}=", "HttpOnly", "Secure", "SameSite=strict", "Path=/"):
        assert attribute in cookie
    assert "Domain" not in cookie


def test_sign_out_ends_the_session(node: ServedNode) -> None:
    with node.client() as client:
        sign_in(node, client)
        session = client.cookies[COOKIE]
        assert client.delete("/api/v1/session", headers=SAME_ORIGIN).status_code == 204
        stolen = client.get("/api/v1/status", headers={"Cookie": f"{COOKIE}={session}"})
    assert_problem(stolen, 401, "unauthenticated")


@pytest.mark.parametrize("change", ["revoked", "replaced"])
def test_a_session_ends_with_its_token(node: ServedNode, change: str) -> None:
    with node.client() as client:
        sign_in(node, client)
        if change == "revoked":
            node.tokens.revoke("tester")
        else:
            node.token("tester")
        assert_problem(client.get("/api/v1/status"), 401, "unauthenticated")
        assert client.get("/api/v1/session").status_code == 204


def test_nobody_is_signed_in_at_first(node: ServedNode) -> None:
    with node.client() as client:
        assert client.get("/api/v1/session").status_code == 204
    with node.client("ctm.tester.wrong") as client:
        assert_problem(client.get("/api/v1/session"), 401, "unauthenticated")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://elsewhere.example"},
    ],
)
def test_another_site_cannot_use_the_session(node: ServedNode, headers: dict[str, str]) -> None:
    with node.client() as client:
        sign_in(node, client)
        assert_problem(client.delete("/api/v1/session", headers=headers), 403, "access-refused")
        assert client.get("/api/v1/session").status_code == 200


def test_our_own_origin_may_use_the_session(node: ServedNode) -> None:
    with node.client() as client:
        sign_in(node, client)
        assert client.delete("/api/v1/session", headers={"Origin": node.url}).status_code == 204


def test_another_site_cannot_sign_in(node: ServedNode) -> None:
    with node.client() as client:
        body = {"token": node.token()}
        response = client.post("/api/v1/session", json=body, headers={"Sec-Fetch-Site": "cross-site"})
    assert_problem(response, 403, "access-refused")


def test_guessing_is_slowed_down(own_node: ServedNode) -> None:
    with own_node.client() as client:
        for _ in range(5):
            wrong = client.post("/api/v1/session", json={"token": "ctm.tester.guess"})
            assert_problem(wrong, 401, "unauthenticated")
        refused = sign_in(own_node, client)
    assert_problem(refused, 429, "too-many-attempts")
    assert 0 < int(refused.headers["retry-after"]) <= 60


# Errors and headers


def test_every_error_is_a_problem(node: ServedNode) -> None:
    with node.client(node.token()) as client:
        assert_problem(client.get("/api/v1/nothing"), 404, "not-found")
        assert_problem(client.get("/assets/nothing.js"), 404, "not-found")
        assert_problem(client.put("/api/v1/status"), 405, "method-not-allowed")
        assert_problem(client.post("/api/v1/session", json={"secret": "s3cret"}), 422, "invalid-request")
        assert_problem(client.post("/api/v1/session", content=b"{"), 422, "invalid-request")
        for unreadable in (b'{"token": "\xff"}', b"\xff\xfe"):
            assert_problem(client.post("/api/v1/session", content=unreadable), 422, "invalid-request")


def test_a_bug_tells_nothing_of_its_insides(node: ServedNode, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> list[object]:
        raise RuntimeError("an inner secret")

    monkeypatch.setattr(node.ledger, "rows", broken)
    with node.client(node.token()) as client:
        response = client.get("/api/v1/ledger")
    assert_problem(response, 500, "failed")
    assert "secret" not in response.text
    assert response.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


def test_a_refused_token_is_not_repeated(node: ServedNode) -> None:
    with node.client() as client:
        response = client.post("/api/v1/session", json={"token": ["ctm.tester.private"]})
    assert "private" not in response.text


def test_a_body_that_is_too_large_is_refused(node: ServedNode) -> None:
    body = b"x" * (MAX_BODY_BYTES + 1)
    with node.client() as client:
        assert_problem(client.post("/api/v1/session", content=body), 413, "content-too-large")
        unannounced = client.post("/api/v1/session", content=iter([body[:1000], body[1000:]]))
        assert_problem(unannounced, 413, "content-too-large")


@pytest.mark.parametrize("path", ["/", "/ping", "/api/v1/status", "/api/v1/openapi.json", "/nothing"])
def test_security_headers_are_on_every_response(node: ServedNode, path: str) -> None:
    with node.client() as client:
        headers = client.get(path).headers
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert "server" not in headers
    assert headers["cache-control"] == ("no-cache" if path == "/" else "no-store")


def test_assets_may_be_kept_for_ever(node: ServedNode) -> None:
    with node.client() as client:
        page = client.get("/").text
        script = next(part for part in page.split('"') if part.endswith(".js"))
        response = client.get(script)
    assert "immutable" in response.headers["cache-control"]
    assert response.headers["content-encoding"] == "gzip"


def test_nothing_is_served_in_the_clear(node: ServedNode) -> None:
    context = ssl.create_default_context(cafile=str(node.config.paths.identities / "ca.crt"))
    plain = socket.create_connection(("localhost", node.config.api.port))
    with context.wrap_socket(plain, server_hostname="localhost") as secure:
        assert secure.version() == "TLSv1.3"
    with httpx.Client() as client, pytest.raises(httpx.TransportError):
        client.get(f"http://localhost:{node.config.api.port}/ping")


# Live


def next_event(lines: Iterator[str]) -> tuple[str, dict[str, object]]:
    name = next(line for line in lines if line).removeprefix("event: ")
    return name, orjson.loads(next(lines).removeprefix("data: "))


def test_a_page_sees_the_rate(node: ServedNode) -> None:
    node.ledger.put(row("boiler", 100))
    with node.client(node.token()) as client, client.stream("GET", "/api/v1/live") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = response.iter_lines()
        name, snapshot = next_event(lines)
        assert name == "snapshot"
        assert snapshot["totals"]["received"] == 100  # type: ignore[index]
        node.ledger.put(row("boiler", 150))
        name, delta = next_event(lines)
    assert name == "delta"
    assert 35 < delta["totals"]["rate_per_s"] < 60  # type: ignore[index]
    assert [stream["received"] for stream in delta["streams"]] == [150]  # type: ignore[attr-defined]


def test_sign_out_closes_the_stream(node: ServedNode) -> None:
    with node.client() as client:
        sign_in(node, client)
        with client.stream("GET", "/api/v1/live") as response:
            lines = response.iter_lines()
            next_event(lines)
            client.delete("/api/v1/session", headers=SAME_ORIGIN)
            started_s = time.monotonic()
            assert "".join(lines) == ""
    assert time.monotonic() - started_s < 0.5


def test_revoking_the_token_closes_the_stream(node: ServedNode) -> None:
    with node.client(node.token()) as client, client.stream("GET", "/api/v1/live") as response:
        lines = response.iter_lines()
        next_event(lines)
        node.tokens.revoke("tester")
        started_s = time.monotonic()
        for _ in lines:
            assert time.monotonic() - started_s < 3


# The process


def wait_for(config: Config, state: State) -> None:
    deadline_s = time.monotonic() + 20
    while not config.paths.socket("api").exists() or ask(config.paths.socket("api")).state is not state:
        assert time.monotonic() < deadline_s, f"the service does not report that it is {state}"
        time.sleep(0.05)


def start_service(config: Config) -> subprocess.Popen[bytes]:
    variables = {
        "CATCHMENT_DATA_DIR": str(config.data_dir),
        "CATCHMENT_API__PORT": str(config.api.port),
        "CATCHMENT_KAFKA__PORT": str(config.kafka.port),
        "CATCHMENT_KAFKA__CONTROLLER_PORT": str(config.kafka.controller_port),
        "CATCHMENT_GATEWAY__PORT": str(config.gateway.port),
    }
    command = [sys.executable, "-m", "catchment", "serve"]
    return subprocess.Popen(command, env={**os.environ, **variables}, stderr=subprocess.PIPE)


def test_the_process_stops_at_once_although_a_page_is_open(make_config: MakeConfig) -> None:
    config = make_config()
    process = start_service(config)
    try:
        # Without a broker there is no ledger to follow yet, and everything else answers.
        wait_for(config, State.STARTING)
        node = ServedNode(config)
        with node.client(node.token()) as client, client.stream("GET", "/api/v1/live") as response:
            lines = response.iter_lines()
            next_event(lines)
            process.send_signal(signal.SIGTERM)
            for _ in lines:
                pass
            # Less than a supervisor waits; with the page's own patience it would never end.
            assert process.wait(15) == 0
        assert not config.paths.socket("api").exists()
    finally:
        process.kill()
        process.communicate()


def test_the_process_is_ready_when_it_has_read_the_ledger(cluster: Config) -> None:
    process = start_service(cluster)
    try:
        wait_for(cluster, State.RUNNING)
        node = ServedNode(cluster)
        with node.client(node.token()) as client:
            ready = client.get("/ready")
            assert (ready.status_code, ready.json()) == (200, {"ready": True, "reading": []})
            assert client.get("/api/v1/ledger").status_code == 200
        figures = ask(cluster.paths.socket("api")).figures
        assert (figures["requests"], figures["open_pages"], figures["instances"]) == (2, 0, 1)
        assert figures["partitions"] == [0, 1, 2, 3]
        process.terminate()
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.communicate()


def test_a_busy_port_is_named(make_config: MakeConfig) -> None:
    config = make_config()
    with socket.create_server((config.api.host, config.api.port)):
        process = start_service(config)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 2
    assert b"api.port" in said
