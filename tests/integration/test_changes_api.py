"""What needs Kafka of what people see: audit log, acknowledgements, dead letters by reason, live readings."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import orjson
import pytest

from catchment.alerts.model import AlertState
from catchment.config import Config
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.ledger.gaps import GapBook, GapKeeper
from catchment.records import STAMP_HEADER, Kind, Source, Stamp
from catchment.schemas.schema import parse
from catchment.security.tokens import Scope
from tests.events import alert
from tests.integration.test_api import assert_problem
from tests.integration.test_deadletters import bury
from tests.lakes import TEMPERATURE
from tests.serving import MemoryLedger, ServedNode, row, serve


@pytest.fixture(scope="module")
def node(cluster: Config) -> Iterator[ServedNode]:
    with serve(cluster, with_tables=True) as served:
        yield served


def soon(what: Callable[[], Any]) -> Any:
    deadline_s = time.monotonic() + 20
    while not (found := what()):
        assert time.monotonic() < deadline_s
        time.sleep(0.1)
    return found


def noted(client: httpx.Client, **wanted: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get("/api/v1/audit", params=wanted).json()["items"]
    return items


def test_every_change_is_written_down_with_who_and_what_and_nothing_secret(node: ServedNode) -> None:
    with node.client(node.token("auditor")) as client, node.client(node.token("changer")) as changer:
        rule = {"field": "temperature", "above": 240}
        assert changer.put("/api/v1/rules/audited", json=rule).status_code == 200
        assert changer.put("/api/v1/rules/audited", json={"above": "x"}).status_code == 422
        new = changer.put("/api/v1/tokens/made", json={"scopes": ["data:read"]}).json()["token"]
        assert (
            changer.put("/schema-registry/config/audited", json={"compatibility": "NONE"}).status_code == 200
        )
        assert changer.post("/api/v1/sql", json={"sql": "SELECT 1"}).status_code in (200, 422)
        assert changer.get("/api/v1/rules").status_code == 200
        assert changer.delete("/api/v1/rules/audited").status_code == 204
        entries = soon(lambda: len(found := noted(client, who="token/changer")) >= 5 and found)
        text = orjson.dumps(entries).decode()
    assert [(each["what"], each["outcome"]) for each in entries] == [
        ("delete_rule", 204),
        ("set_level_of", 200),
        ("put_token", 201),
        ("put_rule", 422),
        ("put_rule", 200),
    ]
    assert entries[-1]["target"] == "/api/v1/rules/audited"
    assert entries[-1]["address"] in ("127.0.0.1", "::1")
    assert new.rpartition(".")[2] not in text


def test_the_audit_log_is_filtered_and_paged_and_not_for_everybody(node: ServedNode) -> None:
    with node.client(node.token("reader")) as client:
        for number in range(4):
            client.delete(f"/api/v1/rules/paged-{number}")
        soon(lambda: len(noted(client, what="paged-")) == 4)
        page = client.get("/api/v1/audit", params={"what": "paged-", "limit": 3}).json()
        rest = client.get("/api/v1/audit", params={"what": "paged-", "cursor": page["next"]}).json()
        assert [each["target"][-1] for each in [*page["items"], *rest["items"]]] == ["3", "2", "1", "0"]
        assert rest["next"] is None
    with node.client(node.token("narrow", frozenset({Scope.STATUS_READ}))) as narrow:
        assert_problem(narrow.get("/api/v1/audit"), 403, "access-refused")


def test_who_acknowledges_an_alert_first_stays_with_it(node: ServedNode) -> None:
    raised = alert(AlertState.RAISED, 7, 1, sensor="acknowledged")
    node.app.state.services.alerts.put(raised)
    address = f"/api/v1/alerts/{raised.id}"
    with node.client(node.token("first")) as first, node.client(node.token("second")) as second:
        assert first.get(address).json()["acknowledged"] is None
        before = first.get("/api/v1/overview").json()["alerts"]["unacknowledged"]
        answer = first.put(f"{address}/acknowledgement", json={"note": "on my way"})
        assert answer.json()["acknowledged"]["by"] == "token/first"
        assert second.put(f"{address}/acknowledgement", json={}).json()["acknowledged"]["note"] == "on my way"
        assert first.get("/api/v1/overview").json()["alerts"]["unacknowledged"] == before - 1
        assert_problem(first.put("/api/v1/alerts/a/b/c/d/1/acknowledgement", json={}), 404, "not-found")


def test_dead_letters_are_counted_by_reason(node: ServedNode) -> None:
    for number in range(3):
        newest = bury(node.config, "reason of the test", b"x", f"key-{number}")
    with node.client(node.token()) as client:
        reasons = client.get("/api/v1/deadletters/reasons").json()["items"]
    (mine,) = [each for each in reasons if each["reason"] == "reason of the test"]
    assert (mine["count"], mine["newest_id"], mine["topic"]) == (3, newest, Kind.RECORDS.topic)


def measured(schemas: Any, temperature: float) -> bytes:
    import io
    import struct

    import avro.io

    schema = parse(TEMPERATURE)
    body = io.BytesIO()
    fields = {"sensor_id": "oven-9", "timestamp": 1_794_916_800_000, "temperature": temperature, "unit": "C"}
    avro.io.DatumWriter(schema.parsed).write(fields, avro.io.BinaryEncoder(body))
    schemas.register("TemperatureData", TEMPERATURE)
    return struct.pack(">bI", 0, schema.id) + body.getvalue()


def test_readings_come_live_the_recent_ones_first(node: ServedNode) -> None:
    writer = producer(node.config, Party.PIPELINE)

    def measure(sensor: str, temperature: float) -> None:
        value = measured(node.app.state.services.schemas, temperature)
        writer.produce(Kind.MEASUREMENTS.topic, value, f"local/{sensor}")
        writer.flush()

    measure("oven-9", 21.5)
    measure("oven-8", 99.0)
    address = "/api/v1/readings/live"
    with (
        node.client(node.token()) as client,
        client.stream("GET", address, params={"sensor": "local/oven-9"}) as stream,
    ):
        lines = (line.removeprefix("data: ") for line in stream.iter_lines() if line.startswith("data: "))
        assert orjson.loads(next(lines)) == {"at_ms": 1_794_916_800_000, "values": {"temperature": 21.5}}
        measure("oven-9", 22.5)
        assert orjson.loads(next(lines))["values"] == {"temperature": 22.5}


def test_schemas_are_listed_with_their_latest_version(node: ServedNode) -> None:
    node.app.state.services.schemas.register("TemperatureData", TEMPERATURE)
    with node.client(node.token()) as client:
        items = client.get("/api/v1/schemas").json()["items"]
    (mine,) = [each for each in items if each["subject"] == "TemperatureData"]
    assert mine["id"] == parse(mine["schema"]).id
    assert mine["versions"]


def test_a_gap_is_kept_on_its_topic_until_it_closed(
    node: ServedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A keeper that starts anew knows what was missing before, and when it was found."""
    monkeypatch.setattr("catchment.ledger.gaps.LOOK_S", 0.2)
    ledger: Any = MemoryLedger(row("gappy", 10, gaps=[(3, 4)], missing=2))
    books = [GapBook(), GapBook()]
    first = GapKeeper(node.config, Party.API, ledger, books[0])
    first.start()
    (opened,) = soon(books[0].all)
    first.stop()
    second = GapKeeper(node.config, Party.API, ledger, books[1])
    second.start()
    assert soon(books[1].all) == [opened]
    ledger.put(row("gappy", 12))
    closed = soon(lambda: [gap for gap in books[1].all() if gap.closed_ms])
    second.stop()
    assert [(gap.first, gap.last, gap.opened_ms) for gap in closed] == [(3, 4, opened.opened_ms)]


def send_records(config: Config, source: Source, *numbers: int) -> None:
    writer = producer(config, Party.GATEWAY)
    for number in numbers:
        stamp = Stamp(source, number, time.time_ns() // 1000).encode()
        writer.produce(Kind.RECORDS.topic, b"counted", source.key, headers=[(STAMP_HEADER, stamp)])
    assert writer.flush(20) == 0


def test_a_recount_is_started_followed_and_finds_what_is_missing(node: ServedNode) -> None:
    source = Source("local", "recounted", 1, "counted-again")
    send_records(node.config, source, 1, 2, 5, 5)
    address = "/api/v1/proof/recount"
    with node.client(node.token("counter")) as client:
        assert client.get(address).status_code == 204
        started = client.post(address, json={"wait_s": 0})
        assert started.status_code == 202
        assert (started.json()["state"], started.json()["by"]) == ("counting", "token/counter")
        assert_problem(client.post(address), 409, "conflict")
        counted = soon(lambda: (now := client.get(address).json())["state"] != "counting" and now)
        assert (counted["state"], counted["failure"]) == ("done", None)
        (mine,) = [each for each in counted["proof"]["streams"] if each["gateway"] == "recounted"]
        assert (mine["received"], mine["duplicated"], mine["gaps"]) == (3, 1, [[3, 4]])
        assert counted["records"] >= 4
        assert counted["ended_ms"] >= counted["started_ms"]
        (noted_start, refused) = soon(
            lambda: len(found := noted(client, who="token/counter", what="recount")) == 2 and found
        )[::-1]
        assert (noted_start["what"], noted_start["outcome"]) == ("start_recount", 202)
        assert refused["outcome"] == 409


def test_a_recount_is_stopped_and_another_one_can_follow(node: ServedNode) -> None:
    address = "/api/v1/proof/recount"
    with node.client(node.token("counter")) as client:
        # Nobody marks what these records promise, so that it waits for as long as it may.
        assert client.post(address, json={"wait_s": 600}).status_code == 202
        assert client.delete(address).status_code == 204
        stopped = client.get(address).json()
        assert (stopped["state"], stopped["proof"]) == ("stopped", None)
        soon(lambda: client.post(address, json={"wait_s": 600}).status_code == 202)
        assert client.delete(address).status_code == 204


def test_a_recount_whose_process_dies_says_so(node: ServedNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catchment.ledger.recount_process.sys.executable", "/bin/false")
    with node.client(node.token("counter")) as client:
        soon(lambda: client.post("/api/v1/proof/recount").status_code == 202)
        ended = soon(lambda: (now := client.get("/api/v1/proof/recount").json())["ended_ms"] and now)
    assert (ended["state"], ended["failure"]["code"]) == ("failed", "failed")
