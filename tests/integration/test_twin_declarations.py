"""Types and feeds of twins over HTTPS and on the command line: what makes no sense is refused."""

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
from catchment.records import Kind
from catchment.schemas.shipped import TEMPERATURE, register_shipped
from catchment.security.tokens import Scope
from tests import twinning
from tests.integration.test_api import assert_problem
from tests.serving import ServedNode, serve

SITE = "twin-declarations"
MEASURED = {"subject": TEMPERATURE, "object": "{device}", "values": {"heat": "temperature"}}


@pytest.fixture(scope="module")
def node(cluster: Config) -> Iterator[ServedNode]:
    config = cluster.model_copy(update={"site": SITE})
    with serve(config, with_tables=True) as served:
        register_shipped(served.app.state.services.schemas)
        yield served


@pytest.fixture(scope="module")
def api(node: ServedNode) -> Iterator[httpx.Client]:
    with node.client(node.token()) as client:
        client.base_url = httpx.URL(f"{node.url}/api/v1")
        yield client


def test_a_type_is_declared_changed_listed_and_removed(api: httpx.Client, node: ServedNode) -> None:
    written = api.put("/twin-types/kiln", json=twinning.KILN)
    assert (written.status_code, written.headers["etag"]) == (200, '"1"')
    assert api.put("/twin-types/kiln", json=twinning.KILN).json()["version"] == 1
    changed = api.put("/twin-types/kiln", json={**twinning.KILN, "open": True}, headers={"If-Match": '"1"'})
    assert changed.json()["version"] == 2
    late = api.put("/twin-types/kiln", json=twinning.KILN, headers={"If-Match": '"1"'})
    assert_problem(late, 412, "version-changed")
    assert api.get("/twin-types/kiln").json() == changed.json()
    assert api.get("/twin-types", params={"site": SITE}).json()["items"] == [changed.json()]
    on_topic = {each.key(): each.value() for each in read_all(node.config, Party.API, Kind.TWIN_TYPES.topic)}
    assert orjson.loads(on_topic[f"{SITE}/kiln".encode()] or b"") == changed.json()
    assert api.delete("/twin-types/kiln").status_code == 204
    assert_problem(api.get("/twin-types/kiln"), 404, "not-found")


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"kind": "number", "min": 2, "max": 1}, "values.heat.min"),
        ({"kind": "text", "min": 2}, "values.heat.min"),
        ({"kind": "boolean", "max": 2}, "values.heat.max"),
        ({"kind": "number", "max_length": 2}, "values.heat.max_length"),
        ({"kind": "integer", "one_of": [1, 2.5]}, "values.heat.one_of"),
        ({"kind": "number", "one_of": [True]}, "values.heat.one_of"),
        ({"kind": "text", "one_of": ["a", 1]}, "values.heat.one_of"),
        ({"kind": "boolean", "one_of": ["yes"]}, "values.heat.one_of"),
        ({"kind": "colour"}, "values.heat.kind"),
        ({"kind": "number", "colour": "red"}, "values.heat.colour"),
    ],
)
def test_a_type_that_makes_no_sense_is_refused_with_the_field(
    api: httpx.Client, value: dict[str, Any], place: str
) -> None:
    refused = api.put("/twin-types/wrong", json={"name": "Wrong", "values": {"heat": value}})
    assert_problem(refused, 422, "invalid-request")
    assert place in refused.json()["detail"]


@pytest.mark.parametrize(
    ("feed", "place"),
    [
        ({"source": MEASURED, "type": "nowhere"}, "type"),
        ({"source": {**MEASURED, "subject": "Nothing"}}, "source.subject"),
        ({"source": {**MEASURED, "values": {"heat": "colour"}}}, "source.values.heat"),
        ({"source": {**MEASURED, "object": "{place}"}}, "source.object"),
    ],
)
def test_a_feed_that_fits_nothing_is_refused_with_the_field(
    api: httpx.Client, feed: dict[str, Any], place: str
) -> None:
    refused = api.put("/twin-feeds/wrong", json=feed)
    assert_problem(refused, 422, "invalid-request")
    assert refused.json()["detail"].startswith(f"{place}: ")


def test_a_type_that_a_feed_refers_to_stays(api: httpx.Client) -> None:
    api.put("/twin-types/used", json=twinning.FREE)
    feed = api.put("/twin-feeds/user", json={"source": {"streams": "lab/*"}, "type": "used"})
    assert feed.json()["source"] == {"streams": "lab/*"}
    assert_problem(api.delete("/twin-types/used"), 409, "conflict")
    assert api.delete("/twin-feeds/user").status_code == 204
    assert api.delete("/twin-types/used").status_code == 204


def test_who_may_only_read_declares_nothing(node: ServedNode) -> None:
    with node.client(node.token("twin-reader", frozenset({Scope.REGISTRY_READ}))) as reader:
        refused = reader.put("/api/v1/twin-types/kiln", json=twinning.KILN)
        assert_problem(refused, 403, "access-refused")
        assert reader.get("/api/v1/twin-types").status_code == 200


def test_the_command_line_declares_both(node: ServedNode, api: httpx.Client, tmp_path: Path) -> None:
    node.config.paths.operator_token.write_text(node.token("operator"))
    file = tmp_path / "node.yaml"
    file.write_text(yaml.safe_dump(node.config.model_dump(mode="json", exclude_none=True)))

    def run(*arguments: str) -> Any:
        done = CliRunner().invoke(app, ["--config", str(file), "register", *arguments, "--json"])
        assert done.exit_code == 0, done.output
        return orjson.loads(done.stdout)

    made = run("twin-type", "add", "reading", "--value", "heat=number", "--required", "heat", "--writer", "*")
    assert made["values"]["heat"]["required"]
    assert made["writers"] == ["*"]
    fed = run(
        "twin-feed",
        "add",
        "readings",
        "--subject",
        TEMPERATURE,
        "--type",
        "reading",
        "--value",
        "heat=temperature",
    )
    assert fed["source"]["values"] == {"heat": "temperature"}
    assert "readings" in [each["id"] for each in run("twin-feed", "list")]
    declared = tmp_path / "twins.yaml"
    feeds = {"kilns": {"source": {"streams": "kiln-*"}, "type": "kiln"}}
    declared.write_text(yaml.safe_dump({"twin_types": {"kiln": twinning.KILN}, "twin_feeds": feeds}))
    assert run("apply", str(declared))["twin_feeds"]["kilns"]["type"] == "kiln"
    assert api.get("/twin-types/kiln").status_code == 200
