"""Alerts over HTTPS: listed, filtered, page by page, and each with its attempts."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from catchment.alerts.model import AlertState
from catchment.security.tokens import Scope
from tests.conftest import MakeConfig, free_ports
from tests.events import alert, delivery
from tests.integration.test_api import assert_problem
from tests.receivers import WebReceiver
from tests.running_node import clean_environment
from tests.serving import ServedNode, serve

ADDRESS = "/api/v1/alerts"


@pytest.fixture(scope="module")
def node(make_config: MakeConfig) -> Iterator[ServedNode]:
    """A node with five alerts, of which the oldest two are over."""
    with serve(make_config()) as served:
        book = served.app.state.services.alerts
        for number in range(1, 6):
            site = "oslo" if number % 2 else "bergen"
            book.put(alert(AlertState.RAISED, number, 1, sensor=f"oven-{number}", site=site))
            if number <= 2:
                book.put(alert(AlertState.CLEARED, number, 2, sensor=f"oven-{number}", site=site))
        book.put_delivery(delivery(alert(first_ms=5, sensor="oven-5")))
        yield served


def listed(served: ServedNode, **parameters: str | int) -> list[str]:
    with served.client(served.token()) as client:
        answer = client.get(ADDRESS, params=parameters)
    assert answer.status_code == 200
    return [item["sensor"] for item in answer.json()["items"]]


def test_the_newest_is_first(node: ServedNode) -> None:
    assert listed(node) == ["oven-5", "oven-4", "oven-3", "oven-2", "oven-1"]


def test_open_and_past_ones_can_be_told_apart_and_any_can_be_looked_for(node: ServedNode) -> None:
    assert listed(node, state="raised") == ["oven-5", "oven-4", "oven-3"]
    assert listed(node, state="cleared", sensor="oven-1") == ["oven-1"]
    assert listed(node, site="bergen", state="raised") == ["oven-4"]
    assert listed(node, rule="too-cold") == []
    assert listed(node, node="oslo", limit=1) == ["oven-5"]


def test_pages_follow_each_other_without_a_gap(node: ServedNode) -> None:
    seen: list[str] = []
    cursor: str | None = ""
    with node.client(node.token()) as client:
        while cursor is not None:
            page = client.get(ADDRESS, params={"limit": 2, **({"cursor": cursor} if cursor else {})}).json()
            seen += [item["sensor"] for item in page["items"]]
            cursor = page["next"]
    assert seen == ["oven-5", "oven-4", "oven-3", "oven-2", "oven-1"]


def test_one_alert_has_its_attempts(node: ServedNode) -> None:
    with node.client(node.token()) as client:
        found = client.get(f"{ADDRESS}/oslo/oslo/oven-5/too-hot/5").json()
        missing = client.get(f"{ADDRESS}/oslo/oslo/oven-5/too-hot/6")
    assert found["state"] == "raised"
    assert (found["raised_ms"], found["cleared_ms"]) == (6, None)
    assert [each["channel"] for each in found["deliveries"]] == ["phone"]
    assert (missing.status_code, missing.json()["code"]) == (404, "not-found")


def test_alerts_have_a_scope_of_their_own(node: ServedNode) -> None:
    with node.client(node.token("other", frozenset({Scope.STATUS_READ}))) as client:
        for address in (ADDRESS, f"{ADDRESS}/oslo/oslo/oven-5/too-hot/5"):
            assert client.get(address).status_code == 403
        assert client.get(ADDRESS, params={"cursor": "?"}).status_code == 403


def test_what_makes_no_sense_is_refused(node: ServedNode) -> None:
    with node.client(node.token()) as client:
        for wrong in ({"cursor": "?"}, {"state": "silent"}, {"limit": "0"}):
            assert client.get(ADDRESS, params=wrong).status_code == 422


def test_the_command_line_shows_the_same(node: ServedNode) -> None:
    node.config.paths.operator_token.write_text(node.token("operator"))
    file = node.config.data_dir / "catchment.yaml"
    file.write_text(json.dumps(node.config.model_dump(mode="json", exclude_none=True)))

    def catchment(*arguments: str) -> str:
        command = [sys.executable, "-m", "catchment", "--config", str(file), "alerts", *arguments]
        ran = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, timeout=60)
        assert (ran.returncode, ran.stderr) == (0, "")
        return ran.stdout

    raised = json.loads(catchment("list", "--state", "raised", "--json"))
    assert [item["sensor"] for item in raised] == ["oven-5", "oven-4", "oven-3"]
    assert "Oven 3 is hot" in catchment("list")
    shown = catchment("show", "oslo/oslo/oven-5/too-hot/5")
    assert "failed" in shown
    assert "phone" in shown


def test_channels_are_listed_without_secrets_and_tried(make_config: MakeConfig, tmp_path: Path) -> None:
    receiver = WebReceiver(*free_ports(1))
    config = make_config(alerts={"channels": {"pager": receiver.channel(tmp_path)}})
    with serve(config) as served, served.client(served.token()) as client:
        listed = client.get("/api/v1/channels")
        assert listed.json() == {"items": [{"name": "pager", "kind": "webhook"}]}
        with receiver.open():
            tried = client.post("/api/v1/channels/pager/test")
        assert tried.json() == {"name": "pager", "delivered": True, "error": None}
        assert b'"test":true' in receiver.requests[0].body
        away = client.post("/api/v1/channels/pager/test").json()
        assert (away["delivered"], bool(away["error"])) == (False, True)
        assert_problem(client.post("/api/v1/channels/fax/test"), 404, "not-found")
        with served.client(served.token("reader", frozenset({Scope.RULES_READ}))) as reader:
            assert_problem(reader.post("/api/v1/channels/pager/test"), 403, "access-refused")
