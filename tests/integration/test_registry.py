"""The registry over HTTPS: references, versions, pages, sensors that were only seen, and other sites."""

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
from catchment.errors import CatchmentError
from catchment.kafka.clients import producer, read_all
from catchment.kafka.parties import Party
from catchment.records import Kind
from catchment.registry.model import Device, SeenSensor
from catchment.schemas.shipped import TEMPERATURE, register_shipped
from catchment.security.tokens import Scope
from tests.integration.test_api import assert_problem
from tests.listening import wait_until
from tests.serving import ServedNode, serve

DEVICE = {"name": "Press 7", "description": "Second hall", "location": "Hall 2, bay 14"}
TYPE = {"name": "Temperature", "unit": "C", "subject": TEMPERATURE}
MAPPING = {"streams": "rg-*", "subject": TEMPERATURE, "fields": {"temperature": "t", "unit": {"const": "C"}}}


@pytest.fixture(scope="module")
def node(cluster: Config) -> Iterator[ServedNode]:
    config = cluster.model_copy(update={"site": "registry-test"})
    with serve(config, with_tables=True) as served:
        register_shipped(served.app.state.services.schemas)
        yield served


@pytest.fixture(scope="module")
def api(node: ServedNode) -> Iterator[httpx.Client]:
    with node.client(node.token()) as client:
        client.base_url = httpx.URL(f"{node.url}/api/v1")
        yield client


def put(api: httpx.Client, path: str, body: dict[str, Any], **headers: str) -> httpx.Response:
    return api.put(path, json=body, headers={name.replace("_", "-"): text for name, text in headers.items()})


def sensor(device: str, kind: str, name: str = "Oil") -> dict[str, Any]:
    return {"name": name, "device_id": device, "sensor_type_id": kind}


def see(config: Config, identifier: str, **fields: Any) -> None:
    """Says that a sensor sent its first measurement, as the pipeline does."""
    usual = {"site": "registry-test", "subject": TEMPERATURE, "stream": "rg-stream", "first_ms": 1}
    seen = SeenSensor.model_validate({**usual, "id": identifier, "first_reading": {"t": 1.5}, **fields})
    writer = producer(config, Party.PIPELINE)
    writer.produce(Kind.SEEN_SENSORS.topic, seen.model_dump_json(), seen.key)
    writer.flush()


def test_what_is_registered_is_shown_and_stands_on_its_topic(api: httpx.Client, node: ServedNode) -> None:
    written = put(api, "/devices/rg-press", DEVICE)
    assert (written.status_code, written.headers["etag"]) == (200, '"1"')
    shown = api.get("/devices/rg-press").json()
    assert shown == written.json()
    assert {name: shown[name] for name in DEVICE} == DEVICE
    assert (shown["site"], shown["id"], shown["version"]) == ("registry-test", "rg-press", 1)
    on_topic = {each.key(): each.value() for each in read_all(node.config, Party.API, Kind.DEVICES.topic)}
    assert orjson.loads(on_topic[b"registry-test/rg-press"] or b"") == shown


def test_a_change_is_a_version_and_the_same_again_is_none(api: httpx.Client) -> None:
    put(api, "/devices/rg-versions", DEVICE)
    assert put(api, "/devices/rg-versions", DEVICE).json()["version"] == 1
    assert put(api, "/devices/rg-versions", {**DEVICE, "location": "Hall 3"}).json()["version"] == 2


def test_a_change_of_another_version_is_refused(api: httpx.Client) -> None:
    put(api, "/devices/rg-etag", DEVICE, if_none_match="*")
    assert_problem(put(api, "/devices/rg-etag", DEVICE, if_none_match="*"), 412, "version-changed")
    changed = put(api, "/devices/rg-etag", {**DEVICE, "name": "Press 8"}, if_match='"1"')
    assert changed.headers["etag"] == '"2"'
    assert_problem(put(api, "/devices/rg-etag", DEVICE, if_match='"1"'), 412, "version-changed")
    assert_problem(put(api, "/devices/rg-etag", DEVICE, if_match="first"), 412, "version-changed")
    assert_problem(api.delete("/devices/rg-etag", headers={"If-Match": '"1"'}), 412, "version-changed")
    assert api.delete("/devices/rg-etag", headers={"If-Match": '"2"'}).status_code == 204


def test_references_must_be_there_and_hold_what_they_refer_to(api: httpx.Client) -> None:
    nowhere = put(api, "/sensors/rg-oil", sensor("rg-none", "rg-temperature"))
    assert_problem(nowhere, 422, "invalid-request")
    assert "refers to the device 'rg-none', which is not there" in nowhere.json()["detail"]
    put(api, "/devices/rg-held", DEVICE)
    assert "the type 'rg-held-type'" in put(api, "/sensors/rg-oil", sensor("rg-held", "rg-held-type")).text
    assert put(api, "/sensor-types/rg-held-type", TYPE).status_code == 200
    assert put(api, "/sensors/rg-oil", sensor("rg-held", "rg-held-type")).status_code == 200
    for held in ("/devices/rg-held", "/sensor-types/rg-held-type"):
        refused = api.delete(held)
        assert_problem(refused, 409, "conflict")
        assert "rg-oil" in refused.json()["detail"]
    assert api.delete("/sensors/rg-oil").status_code == 204
    assert api.delete("/devices/rg-held").status_code == 204
    assert_problem(api.get("/devices/rg-held"), 404, "not-found")
    assert_problem(api.delete("/devices/rg-held"), 404, "not-found")


def test_a_subject_in_use_is_not_deleted(api: httpx.Client, node: ServedNode) -> None:
    put(api, "/sensor-types/rg-subject", TYPE)
    registry = f"{node.url}/schema-registry/subjects/{TEMPERATURE}"
    for address in (registry, f"{registry}/versions/1"):
        answer = api.delete(address)
        assert (answer.status_code, answer.json()["error_code"]) == (422, 42206)
        assert "rg-subject" in answer.json()["message"]
    assert_problem(put(api, "/sensor-types/x", {**TYPE, "subject": "None.Such"}), 422, "invalid-request")


def test_a_subject_in_use_stays_one_of_measurements(api: httpx.Client, node: ServedNode) -> None:
    put(api, "/sensor-types/rg-stays", TYPE)
    fields = [{"name": "temperature", "type": "double"}, {"name": "timestamp", "type": "long"}]
    schema = {"type": "record", "name": "TemperatureData", "namespace": "catchment", "fields": fields}
    address = f"{node.url}/schema-registry/subjects/{TEMPERATURE}/versions"
    answer = api.post(address, json={"schema": orjson.dumps(schema).decode()})
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42201)
    assert "no field sensor_id of type string" in answer.json()["message"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"fields": {"pressure": "p"}}, "has no field 'pressure'"),
        ({"fields": {"unit": {"const": "X"}}}, "constant of fields.unit is not of its type"),
        ({"fields": {"sensor_id": "id"}}, "fields.sensor_id is set by"),
        ({"subject": "None.Such"}, "There is no subject 'None.Such'"),
        ({"format": "avro"}, "format avro takes measurements as they are"),
        ({"sensor": {"fixed": "a b"}}, "sensor"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_mapping_must_fit_its_schema(api: httpx.Client, changed: dict[str, Any], said: str) -> None:
    refused = put(api, "/mappings/rg-wrong", {**MAPPING, **changed})
    assert_problem(refused, 422, "invalid-request")
    assert said in refused.json()["detail"]


def test_a_mapping_is_kept_as_it_was_declared(api: httpx.Client) -> None:
    body = {**MAPPING, "sensor": {"field": "meta.id"}, "timestamp": {"field": "at", "unit": "iso8601"}}
    kept = put(api, "/mappings/rg-mapped", body).json()
    assert {name: kept[name] for name in body} == body
    assert kept["format"] == "json"
    assert api.delete("/mappings/rg-mapped").status_code == 204


@pytest.mark.parametrize("identifier", ["a%20b", "-a", "a" * 65])
def test_wrong_ids_are_refused(api: httpx.Client, identifier: str) -> None:
    assert_problem(put(api, f"/devices/{identifier}", DEVICE), 422, "invalid-request")


def test_lists_come_page_by_page(api: httpx.Client) -> None:
    for number in range(5):
        put(api, f"/devices/rg-page-{number}", DEVICE)
    found: list[str] = []
    cursor: str | None = None
    while True:
        parameters = {"limit": "2", "site": "registry-test", **({"cursor": cursor} if cursor else {})}
        page = api.get("/devices", params=parameters).json()
        assert len(page["items"]) <= 2
        found += [device["id"] for device in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert [name for name in found if name.startswith("rg-page-")] == [f"rg-page-{n}" for n in range(5)]
    assert_problem(api.get("/devices", params={"cursor": "nonsense"}), 422, "invalid-request")


def test_a_sensor_that_nobody_registered_waits_to_be_confirmed(api: httpx.Client, node: ServedNode) -> None:
    see(node.config, "rg-new", stream="rg-furnace")
    wait_until(lambda: api.get("/sensors/rg-new").status_code == 200)
    waiting = api.get("/sensors/rg-new").json()
    assert waiting["registered"] is False
    assert waiting["seen"]["first_reading"] == {"t": 1.5}
    assert "rg-new" in [each["id"] for each in api.get("/sensors?registered=false").json()["items"]]

    refused = api.post("/sensors/rg-new/confirm", json={})
    assert "to which device the sensor 'rg-new' belongs" in refused.json()["detail"]
    put(api, "/devices/rg-furnace", DEVICE)
    put(api, "/sensor-types/rg-confirmed", TYPE)
    confirmed = api.post("/sensors/rg-new/confirm", json={"sensor_type_id": "rg-confirmed"}).json()
    assert (confirmed["name"], confirmed["device_id"]) == ("rg-new", "rg-furnace")
    assert api.get("/sensors/rg-new").json()["registered"] is True
    assert_problem(api.post("/sensors/rg-new/confirm", json={}), 409, "conflict")
    assert_problem(api.post("/sensors/rg-unseen/confirm", json={}), 404, "not-found")


def test_what_sites_registered_is_seen_at_the_centre_and_changed_at_the_site(
    api: httpx.Client, node: ServedNode
) -> None:
    device = Device(site="rg-oslo", id="rg-far", name="Far", version=4, updated_ms=1)
    relay = producer(node.config, Party.RELAY)
    relay.produce(Kind.DEVICES.topic, device.model_dump_json(), device.key)
    relay.flush()
    wait_until(lambda: api.get("/devices/rg-far", params={"site": "rg-oslo"}).status_code == 200)
    assert [each["site"] for each in api.get("/devices?site=rg-oslo").json()["items"]] == ["rg-oslo"]
    assert_problem(api.get("/devices/rg-far"), 404, "not-found")
    refused = api.delete("/devices/rg-far")
    assert_problem(refused, 409, "conflict")
    assert "belongs to rg-oslo" in refused.json()["detail"]


def test_reading_and_writing_are_rights_of_their_own(node: ServedNode) -> None:
    with node.client(node.token("rg-reader", frozenset({Scope.REGISTRY_READ}))) as reader:
        assert reader.get("/api/v1/devices").status_code == 200
        assert_problem(reader.put("/api/v1/devices/rg-x", json=DEVICE), 403, "access-refused")
    with node.client(node.token("rg-other", frozenset({Scope.STATUS_READ}))) as other:
        assert_problem(other.get("/api/v1/mappings"), 403, "access-refused")


# The command line


class Registrar:
    """`catchment register` against the served node."""

    def __init__(self, node: ServedNode) -> None:
        node.config.paths.operator_token.write_text(node.token("operator"))
        self.file = node.config.data_dir / "registrar.yaml"
        self.file.write_text(yaml.safe_dump(node.config.model_dump(mode="json", exclude_none=True)))

    def __call__(self, *arguments: str, code: int = 0) -> str:
        ended = CliRunner().invoke(app, ["--config", str(self.file), "register", *arguments])
        if isinstance(ended.exception, CatchmentError):
            assert ended.exception.exit_code == code, ended.exception
            return f"{ended.exception.code}: {ended.exception}"
        assert ended.exit_code == code, ended.output
        return ended.output

    def json(self, *arguments: str) -> Any:
        return orjson.loads(self(*arguments, "--json"))


@pytest.fixture(scope="module")
def register(node: ServedNode) -> Registrar:
    return Registrar(node)


def test_the_command_line_adds_shows_lists_and_removes(register: Registrar) -> None:
    register("device", "add", "cl-press", "--name", "Press", "--location", "Hall 1")
    register("type", "add", "cl-temperature", "--subject", TEMPERATURE, "--unit", "C")
    register("sensor", "add", "cl-oil", "--device", "cl-press", "--type", "cl-temperature")
    assert register.json("sensor", "show", "cl-oil")["name"] == "cl-oil"
    assert "Hall 1" in register("device", "list")
    assert "conflict: The device 'cl-press' is referred to" in register(
        "device", "remove", "cl-press", code=1
    )
    register("sensor", "remove", "cl-oil")
    register("device", "remove", "cl-press")
    assert "not-found" in register("device", "show", "cl-press", code=1)


def test_the_command_line_confirms_what_was_seen(register: Registrar, node: ServedNode) -> None:
    register("device", "add", "cl-kiln")
    register("type", "add", "cl-kiln-temperature", "--subject", TEMPERATURE)
    see(node.config, "cl-seen")
    arguments = ("--device", "cl-kiln", "--type", "cl-kiln-temperature")
    wait_until(
        lambda: "cl-seen" in [each["id"] for each in register.json("sensor", "list", "--unregistered")]
    )
    assert register.json("sensor", "confirm", "cl-seen", *arguments)["device_id"] == "cl-kiln"


def test_a_file_declares_everything_at_once(register: Registrar, tmp_path: Path) -> None:
    fields = [
        {"name": "sensor_id", "type": "string"},
        {"name": "timestamp", "type": "long"},
        {"name": "speed", "type": "double"},
    ]
    schema = {"type": "record", "name": "Wind", "fields": fields}
    (tmp_path / "wind.avsc").write_bytes(orjson.dumps(schema))
    declared = {
        "schemas": {"cl.wind": "wind.avsc"},
        "types": {"cl-wind": {"name": "Wind", "unit": "m/s", "subject": "cl.wind"}},
        "devices": {"cl-mast": {"name": "Mast"}},
        "sensors": {"cl-wind-1": sensor("cl-mast", "cl-wind")},
        "mappings": {
            "cl-winds": {"streams": "cl-mast", "subject": "cl.wind", "sensor": {"fixed": "cl-wind-1"}}
        },
    }
    file = tmp_path / "mast.yaml"
    file.write_text(yaml.safe_dump(declared))
    assert "5" in register("apply", str(file))
    assert register.json("mapping", "show", "cl-winds")["sensor"] == {"fixed": "cl-wind-1"}
    assert register.json("schema", "show", "cl.wind")["version"] == 1
    assert "sensors" in register("apply", str(file), "--json")
    fields.append({"name": "gust", "type": "double"})
    (tmp_path / "wind.avsc").write_bytes(orjson.dumps(schema))
    refusal = register("apply", str(file), code=1)
    assert "schema-refused" in refusal
    assert "field gust" in refusal
    file.write_text(yaml.safe_dump({"device": {}}))
    assert "devices" in register("apply", str(file), code=2)
