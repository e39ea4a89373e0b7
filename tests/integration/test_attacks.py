"""Attacks that must fail, on one served node: each is tried as an attacker would."""

import datetime
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from catchment.alerts.model import AlertState
from catchment.api.access import COOKIE
from catchment.api.guard import HEADERS, MAX_BODY_BYTES
from catchment.lake.tables import lake_of
from catchment.security.tokens import Scope
from catchment.security.users import UserRole, Users
from tests.conftest import MakeConfig
from tests.events import alert
from tests.integration.test_api import SAME_ORIGIN, assert_problem
from tests.lakes import TEMPERATURES, add_rows, readings
from tests.serving import ServedNode, serve

PASSWORD = "a long sentence"
SCRIPT = "<script>alert(1)</script>"
SECRET = "a secret of this machine"


@pytest.fixture(scope="module")
def node(make_config: MakeConfig) -> Iterator[ServedNode]:
    with serve(make_config()) as served:
        Users(served.config.paths.users).add("vera", UserRole.ADMINISTRATOR, PASSWORD)
        add_rows(lake_of(served.config), TEMPERATURES, readings("oven-1", 3))
        (served.config.data_dir / "secret.csv").write_text(f"{SECRET}\n")
        yield served


@pytest.fixture
def client(node: ServedNode) -> Iterator[httpx.Client]:
    with node.client(node.token()) as opened:
        yield opened


# Requests that another site makes a browser send


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {},
    ],
)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/api/v1/users/mallory", {"role": "administrator"}),
        ("PUT", "/api/v1/tokens/mallory", {"scopes": ["data:read"]}),
        ("POST", "/api/v1/sites/mallory/invitation", {}),
        ("DELETE", "/api/v1/users/vera", None),
        ("PUT", "/api/v1/rules/hot", {"field": "t", "above": 1}),
        ("PUT", "/schema-registry/config", {"compatibility": "NONE"}),
    ],
)
def test_another_site_cannot_use_a_session(
    node: ServedNode, method: str, path: str, body: Any, headers: dict[str, str]
) -> None:
    with node.client() as browser:
        browser.post("/api/v1/session", json={"token": node.token("page")}, headers=SAME_ORIGIN)
        answer = browser.request(method, path, json=body, headers=headers)
        assert answer.status_code == 403
        assert "mallory" not in node.tokens.all()
        assert list(Users(node.config.paths.users).all()) == ["vera"]


def test_a_form_of_another_site_does_nothing(node: ServedNode) -> None:
    """What a page can send without being asked for leave first."""
    with node.client() as browser:
        browser.post("/api/v1/session", json={"token": node.token("page")}, headers=SAME_ORIGIN)
        headers = {"Content-Type": "text/plain", "Origin": "https://evil.example"}
        refused = browser.post("/api/v1/sites/mallory/invitation", content=b"{}", headers=headers)
    assert_problem(refused, 403, "access-refused")


def test_the_cookie_is_for_this_site_and_out_of_reach_of_scripts(node: ServedNode) -> None:
    with node.client() as browser:
        answer = browser.post("/api/v1/session", json={"token": node.token("page")}, headers=SAME_ORIGIN)
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith("__host-")
    for attribute in ("secure", "httponly", "samesite=strict", "path=/"):
        assert attribute in cookie


# Tokens and sessions that do not count


def forgeries(node: ServedNode) -> Iterator[str]:
    token = node.token("victim")
    prefix, name, secret = token.split(".")
    yield f"{prefix}.{name}.{secret[:-1]}{'A' if secret[-1] != 'A' else 'B'}"
    yield f"{prefix}.operator.{secret}"
    yield f"{prefix}.{name}."
    yield f"{prefix}..{secret}"
    yield token.replace("ctm.", "ctx.")
    yield "null"
    yield "eyJhbGciOiJub25lIn0.eyJuYW1lIjoib3BlcmF0b3IifQ."
    yield "ctm." + "x" * 10_000


def test_a_forged_token_is_refused(node: ServedNode) -> None:
    for forged in forgeries(node):
        with node.client(forged) as client:
            assert client.get("/api/v1/status").status_code == 401, forged[:50]


def test_an_expired_and_a_revoked_token_are_refused_also_in_a_session(node: ServedNode) -> None:
    short = node.tokens.create("short", frozenset(Scope), datetime.timedelta(seconds=1))
    revoked = node.token("revoked")
    with node.client() as first, node.client() as second, node.client(short) as bearer:
        assert first.post("/api/v1/session", json={"token": short}).status_code == 201
        assert second.post("/api/v1/session", json={"token": revoked}).status_code == 201
        node.tokens.revoke("revoked")
        assert_problem(second.get("/api/v1/status"), 401, "unauthenticated")
        time.sleep(1.1)
        assert_problem(first.get("/api/v1/status"), 401, "unauthenticated")
        assert_problem(bearer.get("/api/v1/status"), 401, "unauthenticated")


@pytest.mark.parametrize("value", ["x" * 43, "", "../../etc", "0"])
def test_a_forged_session_is_refused(node: ServedNode, value: str) -> None:
    with node.client() as client:
        answer = client.get("/api/v1/status", headers={"Cookie": f"{COOKIE}={value}"})
    assert_problem(answer, 401, "unauthenticated")


def test_what_a_list_says_of_a_session_cannot_be_used_as_one(node: ServedNode) -> None:
    with node.client() as client:
        client.post("/api/v1/session", json={"token": node.token("page")}, headers=SAME_ORIGIN)
        listed = client.get("/api/v1/sessions").json()["items"]
    for each in listed:
        with node.client() as thief:
            answer = thief.get("/api/v1/status", headers={"Cookie": f"{COOKIE}={each['id']}"})
        assert answer.status_code == 401


# Files


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/export/..%2f..%2fsecret.csv",
        "/api/v1/export/%2e%2e",
        "/api/v1/export/%2fetc%2fpasswd",
        "/api/v1/export/temperature_data%2f..%2f..%2f..%2fsecret.csv",
        "/api/v1/export/temperature_data%00",
        "/assets/..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
        "/assets/%2e%2e/%2e%2e/pyproject.toml",
        "/docs/..%2f..%2f..%2fpyproject.toml",
        "/docs/%2e%2e/%2e%2e/pyproject.toml",
        "/docs//etc/passwd",
        "/docs/%2fetc%2fpasswd",
        "/docs/reference/..%5c..%5cpages.py",
    ],
)
def test_no_path_leads_out_of_the_lake_the_console_or_the_manual(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (404, 422)
    assert SECRET not in answer.text
    assert "root:" not in answer.text


def test_a_condition_of_an_export_cannot_read_files(node: ServedNode, client: httpx.Client) -> None:
    file = node.config.data_dir / "secret.csv"
    for where in (
        f"temperature IN (SELECT 1 FROM read_csv('{file}'))",
        f"1=1) UNION ALL SELECT * FROM read_text('{file}') --",
        "1=1; COPY temperature_data TO '/tmp/stolen.csv'",
    ):
        answer = client.get("/api/v1/export/temperature_data", params={"where": where, "format": "csv"})
        assert_problem(answer, 422, "invalid-request")
        assert SECRET not in answer.text
    assert not Path("/tmp/stolen.csv").exists()


# SQL


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO temperature_data SELECT * FROM temperature_data",
        "DELETE FROM temperature_data",
        "UPDATE temperature_data SET temperature = 0",
        "DROP VIEW temperature_data",
        "CREATE TABLE mine AS SELECT 1",
        "COPY (SELECT 1) TO '{dir}/stolen.csv'",
        "EXPORT DATABASE '{dir}/stolen'",
        "ATTACH '{dir}/stolen.db'",
        "SELECT * FROM read_csv('{dir}/secret.csv')",
        "SELECT * FROM read_text('{dir}/secret.csv')",
        "SELECT * FROM '{dir}/secret.csv'",
        "SELECT * FROM glob('{dir}/*')",
        "SELECT * FROM read_csv('http://127.0.0.1:9/')",
        "SELECT getenv('HOME')",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "PRAGMA enable_external_access = true",
        "SELECT 1; SELECT 2",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{dir}/stolen.csv'",
        "CALL pragma_version()",
        "SELECT * FROM services",
        "SELECT * FROM duckdb_secrets()",
    ],
)
def test_sql_can_only_ask_the_tables(node: ServedNode, client: httpx.Client, sql: str) -> None:
    question = sql.replace("{dir}", str(node.config.data_dir))
    answer = client.post("/api/v1/sql", json={"sql": question})
    assert_problem(answer, 422, "invalid-request")
    assert SECRET not in answer.text
    assert not list(node.config.data_dir.glob("stolen*"))
    assert client.post("/api/v1/sql", json={"sql": "SELECT count(*) FROM temperature_data"}).json()[
        "rows"
    ] == [[3]]


# Addresses that the node would be made to ask


def test_no_request_takes_an_address_to_send_something_to(node: ServedNode) -> None:
    """Webhooks and mail servers are settings.

    Where a site's Kafka is says the site that was invited, or an installer; one also says which centre to
    join, which is spoken to over TLS alone and only if its certificate is the one that was told.
    """
    schemas = node.app.openapi()["components"]["schemas"]
    taken = {
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field in schema.get("properties", {})
        if any(
            word in field for word in ("url", "uri", "webhook", "host", "endpoint", "address", "bootstrap")
        )
    }
    answered = {
        "SiteState.bootstrap_servers",
        "ChangedConsumer.bootstrap_servers",
        "InvitedCentre.bootstrap_servers",
        "NewProvider.host",
        "OpenSession.address",
        "AuditEntry.address",
    }
    assert taken - answered == {
        "Joining.bootstrap_servers",
        "SiteSpec.bootstrap_servers",
        "CentreInvitation.url",
    }


def test_a_rule_names_channels_and_cannot_bring_its_own() -> None:
    """Without a broker rules cannot be kept; what a rule may say is decided before that."""
    from catchment.alerts.rules import RuleSpec

    for channel in ("https://169.254.169.254/latest", "json://localhost:9092", "../mail", "a b"):
        with pytest.raises(ValueError, match="channels"):
            RuleSpec.model_validate({"field": "t", "above": 1, "channels": [channel]})


# Bodies


def deep(opening: bytes, closing: bytes, levels: int) -> bytes:
    return opening * levels + closing * levels


@pytest.mark.parametrize("path", ["/api/v1/session", "/api/v1/sql", "/api/v1/sites/join"])
@pytest.mark.parametrize(
    "body",
    [
        deep(b"[", b"]", 30_000),
        deep(b'{"a":', b"}", 9_000).replace(b":}", b":1}"),
        b'{"sql": ' + deep(b"[", b"]", 20_000) + b"}",
        b"1" * 60_000,
        b'{"token": 1e999999}',
    ],
    ids=["lists", "objects", "inside", "number", "exponent"],
)
def test_a_deeply_nested_body_is_refused_and_does_no_harm(
    client: httpx.Client, path: str, body: bytes
) -> None:
    answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert_problem(answer, 422, "invalid-request")
    assert client.get("/ping").text == "pong"


@pytest.mark.parametrize("path", ["/api/v1/session", "/api/v1/sql", "/schema-registry/subjects/a/versions"])
def test_a_body_that_is_too_large_is_refused_announced_or_not(client: httpx.Client, path: str) -> None:
    body = b'{"sql": "' + b"x" * MAX_BODY_BYTES + b'"}'
    assert client.post(path, content=body).status_code == 413
    assert client.post(path, content=iter([body[:1000], body[1000:]])).status_code == 413


# Who is there


def test_nobody_learns_which_names_exist(node: ServedNode) -> None:
    """The same answer after the same time. Few tries: after five an address has to wait."""
    took_s: dict[str, list[float]] = {"vera": [], "nobody": []}
    told = set()
    with node.client() as client:
        for name in ("vera", "nobody", "vera", "nobody"):
            started_s = time.perf_counter()
            answer = client.post("/api/v1/session", json={"name": name, "password": "wrong password"})
            took_s[name].append(time.perf_counter() - started_s)
            told.add((answer.status_code, answer.text))
    assert len(told) == 1
    # A name that is not there would be answered in a millisecond if no password were compared.
    assert min(took_s["nobody"]) > min(took_s["vera"]) / 3


# Pages


@pytest.mark.parametrize(
    "path", ["/", "/ping", "/nothing", "/api/v1/status", "/api/v1/session", "/schema-registry/"]
)
def test_no_page_can_be_put_into_a_frame(node: ServedNode, path: str) -> None:
    with node.client() as client:
        headers = client.get(path).headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY"
    assert {name: headers[name] for name in HEADERS} == HEADERS


def test_what_devices_call_themselves_is_never_taken_for_a_page(
    node: ServedNode, client: httpx.Client
) -> None:
    book = node.app.state.services.alerts
    book.put(alert(AlertState.RAISED, 1, 1, sensor="oven-x", sensor_name=SCRIPT, sentence=SCRIPT))
    rows = [{**each, "unit": SCRIPT} for each in readings("evil", 1)]
    add_rows(lake_of(node.config), TEMPERATURES, rows)
    answers = [
        client.get("/api/v1/alerts", params={"sensor": "oven-x"}),
        client.get("/api/v1/overview"),
        client.get(f"/api/v1/alerts/{SCRIPT}"),
        client.post("/api/v1/sql", json={"sql": "SELECT unit FROM temperature_data"}),
        client.get("/api/v1/export/temperature_data", params={"format": "csv"}),
    ]
    for answer in answers:
        assert SCRIPT in answer.text
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in ("application/json", "application/problem+json", "text/csv")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert "unsafe" not in answer.headers["content-security-policy"]
