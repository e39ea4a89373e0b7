"""What the console's pages ask for, over HTTPS: sites and invitations, gateways, certificates, readings."""

import time
from collections.abc import Iterator
from datetime import timedelta

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import Transaction

from catchment.alerts.model import AlertState
from catchment.api.forecast import SpoolForecast
from catchment.client.joining import join_centre
from catchment.config import Config
from catchment.config.loading import known_keys
from catchment.errors import AccessRefused, InvalidRequest, NodeNotRunning, Unauthenticated
from catchment.health import Report, Reporter, State
from catchment.lake.tables import WrittenFile, lake_of
from catchment.ledger.gaps import Gap, GapChange
from catchment.node.status import Component
from catchment.relay.register import Sites
from catchment.security.authority import Authority, Credentials
from catchment.security.centres import Centres
from tests.conftest import MakeConfig
from tests.events import alert
from tests.integration.test_api import assert_problem
from tests.lakes import FIRST, TEMPERATURES, add_rows, readings
from tests.serving import ServedNode, row, serve

MILLION = 1_000_000


@pytest.fixture(scope="module")
def node(make_config: MakeConfig) -> Iterator[ServedNode]:
    with serve(make_config()) as served:
        yield served


@pytest.fixture
def client(node: ServedNode) -> Iterator[httpx.Client]:
    node.reset()
    with node.client(node.token()) as opened:
        yield opened


# Configuration


def test_the_configuration_is_that_of_the_command_line(
    node: ServedNode, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CATCHMENT_API__PORT", str(node.config.api.port))
    told = client.get("/api/v1/configuration").json()
    assert [each["key"] for each in told["items"]] == list(known_keys())
    shown = {each["key"]: (each["value"], each["from"]) for each in told["items"]}
    assert shown["api.port"] == (node.config.api.port, "CATCHMENT_API__PORT")
    assert shown["data_dir"] == (str(node.config.data_dir), "file")
    assert shown["api.host"][1] == "default"


# Overview


def test_the_overview_has_sites_ledger_and_alerts_in_one_answer(
    node: ServedNode, client: httpx.Client
) -> None:
    node.ledger.put(row("boiler", 100))
    node.ledger.put(row("kiln", 7, site="oslo", missing=3, gaps=[(1, 3)]))
    relay = Component(name="relay:bergen", state=State.RESTARTING, detail="away", needed=False)
    node.components.append(relay)
    node.app.state.services.alerts.put(alert(AlertState.RAISED, 1, 1, sensor="oven-1"))
    overview = client.get("/api/v1/overview").json()
    assert {site["name"]: (site["health"], site["own"]) for site in overview["sites"]} == {
        "bergen": ("bad", False),
        "local": ("well", True),
        "oslo": ("bad", False),
    }
    assert (overview["ready"], overview["ledger"]["received"], overview["ledger"]["missing"]) == (
        True,
        107,
        3,
    )
    assert (overview["alerts"]["open"], overview["alerts"]["unacknowledged"]) == (1, 1)
    assert overview["changes"] == []


def test_what_the_caller_may_not_see_is_left_out_of_the_overview(node: ServedNode) -> None:
    from catchment.security.tokens import Scope

    token = node.token("narrow", frozenset({Scope.STATUS_READ, Scope.LEDGER_READ}))
    with node.client(token) as narrow:
        overview = narrow.get("/api/v1/overview").json()
    assert (overview["alerts"], overview["changes"]) == (None, None)


# Sites


@pytest.fixture
def site(make_config: MakeConfig) -> Config:
    return make_config(site="oslo")


def identity_of(site: Config) -> Credentials:
    return Centres(site.paths.centres).hand_out("local", Authority(site.paths.identities, site.hostnames))


def invitation(client: httpx.Client, name: str = "oslo") -> dict[str, str]:
    answer = client.post(f"/api/v1/sites/{name}/invitation", json={})
    assert answer.status_code == 201
    words = answer.json()["command"].split()
    assert words[:3] == ["catchment", "site", "join"]
    return {"url": words[3], **{words[n].lstrip("-"): words[n + 1] for n in range(4, len(words), 2)}}


def test_an_invited_site_joins_once(node: ServedNode, client: httpx.Client, site: Config) -> None:
    invited = invitation(client)
    identity = identity_of(site)
    join_centre(site, invited["url"], invited["token"], invited["fingerprint"], identity)
    known = Sites(node.config.paths.sites).all()["oslo"]
    assert known.bootstrap_servers.endswith(str(site.kafka.port))
    kept = Sites(node.config.paths.sites).identity_of("oslo")
    assert kept.key_file.read_text() == identity.key
    with pytest.raises(Unauthenticated):
        join_centre(site, invited["url"], invited["token"], invited["fingerprint"], identity)
    assert [each["name"] for each in client.get("/api/v1/sites").json()["items"]] == ["oslo"]
    assert client.put("/api/v1/sites/oslo/pause").status_code == 204
    assert client.get("/api/v1/sites").json()["items"][0]["paused"] is True
    assert client.put("/api/v1/sites/oslo/resume").status_code == 204
    assert client.delete("/api/v1/sites/oslo").status_code == 204
    assert_problem(client.delete("/api/v1/sites/oslo"), 404, "not-found")


def test_a_site_joins_only_the_centre_that_invited_it(client: httpx.Client, site: Config) -> None:
    """Whoever stands in between shows another certificate, and gets neither token nor key."""
    invited = invitation(client)
    with pytest.raises(AccessRefused, match="another certificate"):
        join_centre(site, invited["url"], invited["token"], "0" * 64, identity_of(site))
    with pytest.raises(NodeNotRunning):
        join_centre(site, "https://localhost:9", invited["token"], invited["fingerprint"], identity_of(site))


def test_an_invitation_is_for_one_site(node: ServedNode, client: httpx.Client, site: Config) -> None:
    invited = invitation(client, "bergen")
    with pytest.raises(InvalidRequest, match="for 'bergen'"):
        join_centre(site, invited["url"], invited["token"], invited["fingerprint"], identity_of(site))
    assert Sites(node.config.paths.sites).all() == {}


def test_a_joining_site_cannot_leave_anything_but_an_identity(node: ServedNode) -> None:
    body = {"token": "cti.oslo.x", "site": "oslo", "ca": "x", "certificate": "x", "key": "x"}
    with node.client() as stranger:
        wrong = stranger.post("/api/v1/sites/join", json={**body, "bootstrap_servers": "oslo.example:9092"})
        assert_problem(wrong, 422, "invalid-request")
        address = stranger.post("/api/v1/sites/join", json={**body, "bootstrap_servers": "file:///etc"})
        assert_problem(address, 422, "invalid-request")


# Gateways and certificates


def test_a_gateway_is_shown_with_its_spool(node: ServedNode, client: httpx.Client) -> None:
    figures = {"connections": 2, "spool_bytes": 1000, "spool_fill": 0.25, "confirmed": 7, "behind_bytes": 0}
    report = Report(state=State.RUNNING, detail="port 8992", figures=figures, metrics="")
    reporter = Reporter(node.config.paths.socket("gateway"), lambda: report)
    node.ledger.put(row("kiln", 7, site="oslo", gateway="east"))
    try:
        own, other = client.get("/api/v1/gateways").json()["items"]
    finally:
        reporter.close()
    assert (own["own"], own["connections"], own["spool_fill"], own["full_in_s"]) == (True, 2, 0.25, None)
    assert (other["site"], other["name"], other["state"], other["streams"]) == ("oslo", "east", None, 1)
    assert client.get("/api/v1/gateways").json()["items"][0]["state"] == "stopped"


def test_the_time_until_a_spool_is_full_follows_from_its_growth() -> None:
    now_s = [0.0]
    forecast = SpoolForecast(lambda: now_s[0])
    assert forecast.full_in_s(1_000, 10_000) is None
    now_s[0] = 10.0
    assert forecast.full_in_s(2_000, 10_000) == 80.0
    now_s[0] = 35.0
    assert forecast.full_in_s(2_000, 10_000) is None


def test_certificates_are_listed_with_their_expiry(client: httpx.Client) -> None:
    listed = {each["name"]: each for each in client.get("/api/v1/certificates").json()["items"]}
    assert (listed["api"]["kind"], listed["api"]["days_left"]) == ("part", 364)
    assert (listed["ca"]["kind"], listed["ca"]["days_left"]) == ("authority", 3649)


def test_gaps_are_listed_with_when_they_closed(node: ServedNode, client: httpx.Client) -> None:
    gap = Gap(site="local", gateway="g", epoch=1, stream="s", first=5, last=9, opened_ms=1, closed_ms=None)
    closed = gap.model_copy(update={"opened_ms": 2, "closed_ms": 3})
    node.app.state.services.gaps.put("s", GapChange(missing=[gap], closed=[closed]))
    page = client.get("/api/v1/gaps", params={"limit": 1}).json()
    assert (page["items"][0]["closed_ms"], page["items"][0]["records"]) == (3, 5)
    rest = client.get("/api/v1/gaps", params={"cursor": page["next"]}).json()["items"]
    assert [each["closed_ms"] for each in rest] == [None]
    assert len(client.get("/api/v1/gaps", params={"state": "open", "stream": "s"}).json()["items"]) == 1


# Readings


@pytest.fixture(scope="module")
def stored(node: ServedNode) -> ServedNode:
    """A lake with ten readings of one sensor and a million of another, with one peak among them."""
    lake = lake_of(node.config)
    add_rows(lake, TEMPERATURES, readings("oven-1", 10))
    table = lake.ensure([TEMPERATURES])
    times = [FIRST + timedelta(milliseconds=50 * number) for number in range(MILLION)]
    columns = {
        "site": pa.array(["oslo"] * MILLION),
        "sensor": pa.array(["oslo/oven-2"] * MILLION),
        "temperature": pa.array([500.0 if number == 123_456 else 20.0 for number in range(MILLION)]),
        "time": pa.array(times, pa.timestamp("us", tz="UTC")),
    }
    path = lake.target(TEMPERATURES.table) / f"day={FIRST.date()}" / "million.parquet"
    pq.write_table(pa.table(columns), path)
    file = WrittenFile(TEMPERATURES.table, str(FIRST.date()), path, path.stat().st_size, MILLION)
    lake.commit(table, [file], Transaction("tests", table.version()))
    return node


def test_few_readings_are_given_as_they_are(stored: ServedNode, client: httpx.Client) -> None:
    answer = client.get("/api/v1/readings", params={"sensor": "oslo/oven-1"}).json()
    assert (answer["field"], answer["count"], answer["bucket_ms"]) == ("temperature", 10, 0)
    assert [point["mean"] for point in answer["points"]] == [float(number) for number in range(1, 11)]
    later = client.get(
        "/api/v1/readings",
        params={"sensor": "oslo/oven-1", "since": (FIRST + timedelta(minutes=9)).isoformat()},
    ).json()
    assert [point["mean"] for point in later["points"]] == [9.0, 10.0]


def test_a_million_readings_become_few_points_in_two_seconds_and_no_peak_is_lost(
    stored: ServedNode, client: httpx.Client
) -> None:
    started_s = time.monotonic()
    answer = client.get("/api/v1/readings", params={"sensor": "oslo/oven-2", "points": 500}).json()
    assert time.monotonic() - started_s < 2
    assert answer["count"] == sum(point["count"] for point in answer["points"]) == MILLION
    assert len(answer["points"]) <= 500
    assert max(point["max"] for point in answer["points"]) == 500.0
    assert min(point["min"] for point in answer["points"]) == 20.0


def test_of_a_sensor_that_sent_nothing_there_is_nothing_to_draw(
    stored: ServedNode, client: httpx.Client
) -> None:
    answer = client.get("/api/v1/readings", params={"sensor": "oslo/nothing"}).json()
    assert (answer["field"], answer["points"]) == (None, [])
    other = client.get("/api/v1/readings", params={"sensor": "oslo/oven-1", "field": "pressure"})
    assert_problem(other, 404, "not-found")
