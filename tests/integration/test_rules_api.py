"""Rules through the API and the command line, kept on the shared broker."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
import yaml
from typer.testing import CliRunner, Result

from catchment.cli.main import app
from catchment.config import Config
from catchment.errors import InvalidRule, NotFound, VersionChanged
from catchment.security.tokens import Scope
from tests.serving import ServedNode, serve

OWN = {"sensor": "of-the-api-tests"}
RULE = {"field": "temperature", "above": 80, "unit": "C", "select": OWN}


@pytest.fixture(scope="module")
def node(cluster: Config) -> Iterator[ServedNode]:
    alerts = cluster.alerts.model_validate({"channels": {"shift": CHANNEL}})
    with serve(cluster.model_copy(update={"alerts": alerts}), with_tables=True) as served:
        yield served


@pytest.fixture(scope="module")
def client(node: ServedNode) -> Iterator[httpx.Client]:
    with node.client(node.token("rules")) as client:
        yield client


@pytest.fixture
def catchment(node: ServedNode, tmp_path: Path) -> "Catchment":
    return Catchment(node, tmp_path)


CHANNEL = {"kind": "webhook", "url": "https://localhost/hook", "secret": "a secret that is long enough"}


class Catchment:
    """The command line on the served node."""

    def __init__(self, node: ServedNode, folder: Path) -> None:
        self.file = folder / "rules.yaml"
        self._settings = folder / "catchment.yaml"
        self._settings.write_text(yaml.safe_dump(node.config.model_dump(mode="json", include=NEEDED)))
        node.config.paths.operator_token.write_text(node.token("operator"))

    def rules(self, *arguments: str) -> Result:
        return CliRunner().invoke(app, ["--config", str(self._settings), "rules", *arguments])

    def json(self, *arguments: str) -> Any:
        result = self.rules(*arguments, "--json")
        assert result.exception is None, result.output
        return orjson.loads(result.stdout)

    def apply(self, **rules: Any) -> Any:
        self.file.write_text(yaml.safe_dump({"rules": rules}))
        return {row["id"]: row["outcome"] for row in self.json("apply", str(self.file))}


NEEDED = {"data_dir": True, "site": True, "api": True}


def problem(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def test_every_change_is_a_version_and_what_is_the_same_is_none(client: httpx.Client) -> None:
    first = client.put("/api/v1/rules/versions", json=RULE)
    same = client.put("/api/v1/rules/versions", json=RULE)
    other = client.put("/api/v1/rules/versions", json={**RULE, "above": 90})
    assert [each.json()["version"] for each in (first, same, other)] == [1, 1, 2]
    shown = client.get("/api/v1/rules/versions")
    assert (shown.headers["etag"], shown.json()["above"], shown.json()["hysteresis"]) == ('"2"', 90.0, 0.0)
    client.delete("/api/v1/rules/versions")
    assert problem(client.get("/api/v1/rules/versions")) == (404, "not-found")
    assert problem(client.delete("/api/v1/rules/versions")) == (404, "not-found")


def test_a_change_of_a_version_that_is_not_there_any_more_is_refused(client: httpx.Client) -> None:
    client.put("/api/v1/rules/raced", json=RULE)
    wrong, right = {"If-Match": '"7"'}, {"If-Match": '"1"'}
    refused = client.put("/api/v1/rules/raced", json={**RULE, "above": 90}, headers=wrong)
    assert problem(refused) == (412, VersionChanged.code)
    assert problem(client.delete("/api/v1/rules/raced", headers=wrong)) == (412, VersionChanged.code)
    only_new = client.put("/api/v1/rules/raced", json=RULE, headers={"If-None-Match": "*"})
    assert problem(only_new) == (412, VersionChanged.code)
    assert client.delete("/api/v1/rules/raced", headers=right).status_code == 204


def test_a_rule_that_makes_no_sense_is_refused_with_its_key(client: httpx.Client) -> None:
    both = client.put("/api/v1/rules/wrong", json={**RULE, "below": 3})
    assert problem(both) == (422, "invalid-request")
    assert "exactly one of above and below" in both.json()["detail"]
    channel = client.put("/api/v1/rules/wrong", json={**RULE, "channels": ["shift", "nobody"]})
    assert problem(channel) == (422, InvalidRule.code)
    assert "The rule wrong is wrong: channels: nobody is not configured" in channel.json()["detail"]
    assert "shift" in channel.json()["remedy"]
    message = client.put("/api/v1/rules/wrong", json={**RULE, "message": "$temprature is high"})
    assert "message: " in message.json()["detail"]
    assert problem(client.put("/api/v1/rules/no good", json=RULE)) == (422, "invalid-request")


def test_rules_are_listed_page_by_page(client: httpx.Client) -> None:
    names = ["page-1", "page-2", "page-3"]
    for name in names:
        client.put(f"/api/v1/rules/{name}", json={**RULE, "channels": ["shift"]})
    found: list[str] = []
    cursor = None
    while cursor or not found:
        page = client.get(
            "/api/v1/rules", params={"limit": 1, **({"cursor": cursor} if cursor else {})}
        ).json()
        found += [rule["id"] for rule in page["items"]]
        cursor = page["next"]
    assert [name for name in found if name.startswith("page-")] == names
    for name in names:
        client.delete(f"/api/v1/rules/{name}")


def test_reading_and_writing_have_scopes_of_their_own(node: ServedNode) -> None:
    with node.client(node.token("reader", frozenset({Scope.RULES_READ}))) as reader:
        assert reader.get("/api/v1/rules").status_code == 200
        assert problem(reader.put("/api/v1/rules/forbidden", json=RULE)) == (403, "access-refused")
        assert problem(reader.delete("/api/v1/rules/forbidden")) == (403, "access-refused")
    with node.client(node.token("nobody", frozenset({Scope.STATUS_READ}))) as nobody:
        assert problem(nobody.get("/api/v1/rules")) == (403, "access-refused")


def test_a_file_is_applied_and_only_what_differs_changes(catchment: Catchment) -> None:
    assert catchment.apply(one=RULE, two=RULE) == {"one": "declared", "two": "declared"}
    assert catchment.apply(one=RULE, two={**RULE, "above": 81}) == {"one": "unchanged", "two": "changed"}
    shown = yaml.safe_load(catchment.rules("show", "two").stdout)
    assert catchment.apply(**shown["rules"]) == {"two": "unchanged"}
    versions = {rule["id"]: rule["version"] for rule in catchment.json("list")}
    assert (versions["one"], versions["two"]) == (1, 2)
    assert "temperature above 81 C" in catchment.rules("list").stdout
    for name in ("one", "two"):
        assert catchment.rules("remove", name).exit_code == 0


def test_a_file_with_a_wrong_rule_is_refused_before_any_is_applied(catchment: Catchment) -> None:
    catchment.file.write_text(yaml.safe_dump({"rules": {"good": RULE, "bad": {**RULE, "hysteresis": -1}}}))
    refused = catchment.rules("apply", str(catchment.file))
    assert isinstance(refused.exception, InvalidRule)
    assert "The rule bad is wrong: hysteresis: " in str(refused.exception)
    assert isinstance(catchment.rules("show", "good").exception, NotFound)


def test_a_rule_is_added_switched_and_removed(catchment: Catchment) -> None:
    options = ["--field", "temperature", "--below", "2", "--sensor", OWN["sensor"], "--min-duration", "5"]
    assert catchment.rules("add", "switched", *options).stdout == "switched is declared\n"
    assert isinstance(catchment.rules("add", "switched", *options).exception, VersionChanged)
    assert catchment.rules("disable", "switched").exit_code == 0
    disabled = catchment.json("show", "switched")
    assert (disabled["enabled"], disabled["version"], disabled["min_duration_s"]) == (False, 2, 5.0)
    assert catchment.rules("enable", "switched").exit_code == 0
    assert catchment.json("show", "switched")["enabled"] is True
    assert catchment.rules("remove", "switched").exit_code == 0
    assert isinstance(catchment.rules("disable", "switched").exception, NotFound)
