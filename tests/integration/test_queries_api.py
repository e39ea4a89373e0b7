"""Queries over HTTPS and on the command line: checked, explained, deployed, changed and stopped."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
import yaml
from typer.testing import CliRunner

from catchment.cli.main import app
from catchment.config import Config
from catchment.kafka.clients import read_all
from catchment.kafka.parties import Party
from catchment.queries.model import DeployedQuery
from catchment.records import Kind
from catchment.schemas.shipped import register_shipped
from catchment.security.tokens import Scope
from tests.integration.test_api import assert_problem
from tests.serving import ServedNode, serve

SITE = "deployed-queries"
EXAMPLES = Path(__file__).parents[2] / "examples" / "queries"
BUSIEST = (EXAMPLES / "busiest-host" / "query.yaml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def node(cluster: Config) -> Iterator[ServedNode]:
    with serve(cluster.model_copy(update={"site": SITE}), with_tables=True) as served:
        register_shipped(served.app.state.services.schemas)
        yield served


@pytest.fixture(scope="module")
def api(node: ServedNode) -> Iterator[httpx.Client]:
    with node.client(node.token()) as client:
        client.base_url = httpx.URL(f"{node.url}/api/v1")
        yield client


def spec(text: str) -> dict[str, object]:
    values: dict[str, object] = yaml.safe_load(text)
    del values["name"]
    return values


def test_a_query_is_deployed_changed_listed_and_stopped(api: httpx.Client, node: ServedNode) -> None:
    written = api.put("/queries/busiest-host", json=spec(BUSIEST))
    assert (written.status_code, written.headers["etag"]) == (200, '"1"')
    assert written.json()["explanation"]["state"] == "new"
    again = api.put("/queries/busiest-host", json=spec(BUSIEST))
    assert (again.json()["query"]["version"], again.json()["explanation"]["state"]) == (1, "kept")
    changed = spec(BUSIEST.replace("tumbling: 10s", "tumbling: 20s"))
    anew = api.put("/queries/busiest-host", json=changed, headers={"If-Match": '"1"'}).json()
    assert (anew["query"]["version"], anew["explanation"]["changes"]) == (2, ["box contacts differs"])
    late = api.put("/queries/busiest-host", json=changed, headers={"If-Match": '"1"'})
    assert_problem(late, 412, "version-changed")
    assert api.get("/queries/busiest-host").json() == anew["query"]
    assert api.get("/queries", params={"site": SITE}).json()["items"] == [anew["query"]]
    on_topic = {each.key(): each.value() for each in read_all(node.config, Party.API, Kind.QUERIES.topic)}
    kept = DeployedQuery.model_validate_json(on_topic[f"{SITE}/busiest-host".encode()] or b"")
    assert (kept.version, kept.declaration.name) == (2, "busiest-host")
    assert api.delete("/queries/busiest-host").status_code == 204
    assert_problem(api.get("/queries/busiest-host"), 404, "not-found")
    assert_problem(api.delete("/queries/busiest-host"), 404, "not-found")


def test_a_wrong_query_is_refused_line_by_line(api: httpx.Client) -> None:
    wrong = BUSIEST.replace("protocol = 'tcp'", "protocl = 'tcp'")
    line = "box tcp, where: there is no column protocl. Did you mean protocol?"
    checked = api.post("/queries/check", json={"yaml": wrong}).json()
    assert checked == {"problems": [f"line 9: {line}"], "query": None}
    refused = api.put("/queries/busiest-host", json=spec(wrong))
    assert_problem(refused, 422, "invalid-query")
    assert line in refused.json()["remedy"]
    assert_problem(api.post("/queries/explain", json={"yaml": wrong}), 422, "invalid-query")
    right = api.post("/queries/check", json={"yaml": BUSIEST}).json()
    assert (right["problems"], right["query"]["name"]) == ([], "busiest-host")
    assert api.post("/queries/explain", json={"yaml": BUSIEST}).json()["mode"] == "real-time"


def reading(name: str, source: str) -> dict[str, object]:
    return {"inputs": {"before": {"results": source}}, "outputs": {name: {"from": "before"}}}


def test_a_query_reads_another_whose_columns_are_known_and_no_circle_is_closed(api: httpx.Client) -> None:
    assert api.put("/queries/busiest-host", json=spec(BUSIEST)).status_code == 200
    follows = {
        "inputs": {"busiest": {"results": "busiest-host/busiest"}},
        "boxes": {"many": {"filter": "busiest", "where": "packets > 100"}},
        "outputs": {"many": {"from": "many"}},
    }
    assert api.put("/queries/many", json=follows).status_code == 200
    assert_problem(api.put("/queries/x", json=reading("x", "nobody/out")), 422, "invalid-query")
    circle = spec(BUSIEST) | {
        "inputs": {
            "packets": {"results": "many/many", "schema": {"protocol": "string", "target": "string"}},
        },
        "boxes": {},
        "outputs": {"busiest": {"from": "packets"}},
    }
    refused = api.put("/queries/busiest-host", json=circle)
    assert_problem(refused, 422, "invalid-query")
    assert "reads what it writes, through many" in refused.json()["remedy"]
    held = api.delete("/queries/busiest-host")
    assert_problem(held, 409, "conflict")
    assert api.delete("/queries/many").status_code == 204
    assert api.delete("/queries/busiest-host").status_code == 204


def test_a_measurement_has_the_columns_of_its_subject(api: httpx.Client) -> None:
    text = """
    name: warm
    inputs: {readings: {measurements: TemperatureData}}
    boxes: {warm: {filter: readings, where: temperature > 30}}
    outputs: {warm: {from: warm}}
    """
    assert api.post("/queries/check", json={"yaml": text}).json()["problems"] == []
    unknown = text.replace("TemperatureData", "Humid")
    [line] = api.post("/queries/check", json={"yaml": unknown}).json()["problems"]
    assert "the columns of the subject Humid are not known" in line


def test_rights_are_needed(node: ServedNode) -> None:
    with node.client(node.token("query-reader", frozenset({Scope.QUERIES_READ}))) as reader:
        assert reader.get("/api/v1/queries").status_code == 200
        refused = reader.put("/api/v1/queries/busiest-host", json=spec(BUSIEST))
        assert_problem(refused, 403, "access-refused")
    with node.client(node.token("other", frozenset({Scope.STATUS_READ}))) as other:
        assert_problem(other.get("/api/v1/queries"), 403, "access-refused")


def test_the_command_line_deploys_traces_and_stops(node: ServedNode, tmp_path: Path) -> None:
    node.config.paths.operator_token.write_text(node.token("operator"))
    settings = tmp_path / "node.yaml"
    settings.write_text(yaml.safe_dump(node.config.model_dump(mode="json", exclude_none=True)))

    def call(*arguments: str) -> str:
        outcome = CliRunner().invoke(app, ["--config", str(settings), "query", *arguments])
        assert outcome.exit_code == 0, outcome.output
        return outcome.output

    file = str(EXAMPLES / "rooms" / "query.yaml")
    assert "rooms is deployed, version 1" in call("deploy", file)
    assert "It goes on from the state of the deployed version" in call("explain", file, "--node")
    assert orjson.loads(call("deploy", file, "--json"))["query"]["version"] == 1
    traced = orjson.loads(call("trace", "rooms", "--json"))
    assert (traced["state"], [stage["name"] for stage in traced["stages"]]) == (
        "stopped",
        ["readings", "hours", "output rooms"],
    )
    assert "not here" in call("list")
    assert call("stop", "rooms") == "rooms is stopped\n"


def test_a_query_is_tried_only_with_rows_that_fit(api: httpx.Client) -> None:
    """What comes out is seen in the browser, which starts Spark for it."""
    folder = EXAMPLES / "account-twice"
    texts = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.is_file()}
    body = {
        "yaml": texts["query.yaml"],
        "inputs": {"uses": texts["input.uses.csv"]},
        "tables": {"accounts": texts["table.accounts.csv"]},
    }
    wrongs: list[dict[str, Any]] = [{"tables": {}}, {"yaml": "name: x"}, {"expected": {"once": "a"}}]
    for wrong in wrongs:
        assert_problem(api.post("/queries/test", json={**body, **wrong}), 422, "invalid-query")
    odd = api.post("/queries/test", json={**body, "inputs": {"uses": "time,acount\n1,a\n"}})
    assert "uses: there is no column acount. Did you mean account" in odd.json()["remedy"]
