"""The schema registry over HTTPS, as confluent-kafka's own client and serializers use it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.serialization import MessageField, SerializationContext

from catchment.config import Config
from catchment.errors import SchemaRefused
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.kafka.table import Tables
from catchment.records import Kind
from catchment.schemas.model import SchemaVersion
from catchment.schemas.registry import SchemaRegistry
from catchment.schemas.schema import parse
from catchment.schemas.shipped import TEMPERATURE, ShippedSchemas, register_shipped, shipped
from catchment.security.tokens import Scope
from tests.listening import wait_until
from tests.serving import EVERYTHING, ServedNode, serve


def schema(*fields: dict[str, Any], name: str = "Humidity") -> Schema:
    base = [{"name": "sensor_id", "type": "string"}, {"name": "timestamp", "type": "long", "default": 0}]
    return Schema(json.dumps({"type": "record", "name": name, "fields": [*base, *fields]}), "AVRO")


PLAIN = schema({"name": "humidity", "type": "double"})
WITH_DEW_POINT = schema(
    {"name": "humidity", "type": "double"}, {"name": "dew_point", "type": ["null", "double"], "default": None}
)
WITHOUT_DEFAULT = schema({"name": "humidity", "type": "double"}, {"name": "battery", "type": "double"})


@dataclass
class Served:
    """A node with tables, and clients of its registry."""

    node: ServedNode
    opened: list[SchemaRegistryClient] = field(default_factory=list)

    def client(self, *scopes: Scope, basic: bool = False) -> SchemaRegistryClient:
        token = self.node.token(f"schemas-{len(self.opened)}", frozenset(scopes) or EVERYTHING)
        shown: dict[str, Any] = (
            {"basic.auth.user.info": f"anybody:{token}"}
            if basic
            else {
                "bearer.auth.credentials.source": "STATIC_TOKEN",
                "bearer.auth.token": token,
                "bearer.auth.logical.cluster": "none",
                "bearer.auth.identity.pool.id": "none",
            }
        )
        client = SchemaRegistryClient(
            {
                "url": f"{self.node.url}/schema-registry",
                "ssl.ca.location": str(self.node.config.paths.identities / "ca.crt"),
                **shown,
            }
        )
        self.opened.append(client)
        return client

    def close(self) -> None:
        for client in self.opened:
            client.close()


@pytest.fixture(scope="module")
def served(cluster: Config) -> Iterator[Served]:
    with serve(cluster, with_tables=True) as node:
        served = Served(node)
        yield served
        served.close()


@pytest.fixture(scope="module")
def client(served: Served) -> SchemaRegistryClient:
    return served.client()


def refused(error: "pytest.ExceptionInfo[SchemaRegistryError]") -> tuple[int, int]:
    return error.value.http_status_code, error.value.error_code


def test_a_subject_grows_by_versions(client: SchemaRegistryClient) -> None:
    subject = "sr.grows"
    first = client.register_schema(subject, PLAIN)
    second = client.register_schema(subject, WITH_DEW_POINT)
    assert client.register_schema(subject, PLAIN) == first
    assert client.get_versions(subject) == [1, 2]
    assert subject in client.get_subjects()
    latest = client.get_latest_version(subject)
    assert (latest.version, latest.schema_id) == (2, second)
    found = client.lookup_schema(subject, PLAIN)
    assert (found.version, found.schema_id) == (1, first)
    by_id = client.get_schema(second)
    assert json.loads(by_id.schema_str or "") == json.loads(WITH_DEW_POINT.schema_str or "")
    assert [(each.subject, each.version) for each in client.get_schema_versions(second)] == [(subject, 2)]


def test_ids_follow_from_the_content(client: SchemaRegistryClient, served: Served) -> None:
    registered = client.register_schema("sr.same-a", PLAIN)
    assert registered == client.register_schema("sr.same-b", PLAIN)
    assert registered == parse(PLAIN.schema_str or "").id


@pytest.mark.parametrize("basic", [False, True])
def test_serializers_write_and_read_the_wire_format(served: Served, basic: bool) -> None:
    client = served.client(basic=basic)
    context = SerializationContext("sr.wire", MessageField.VALUE)
    reading = {"sensor_id": "h1", "timestamp": 1794878824534, "humidity": 40.5}
    data = AvroSerializer(client, PLAIN.schema_str or "")(reading, context)
    assert data
    assert (data[0], int.from_bytes(data[1:5], "big")) == (0, parse(PLAIN.schema_str or "").id)
    assert AvroDeserializer(served.client())(data, context) == reading
    newer = AvroDeserializer(served.client(), WITH_DEW_POINT.schema_str)(data, context)
    assert newer == {**reading, "dew_point": None}


def test_a_change_that_breaks_compatibility_is_refused_with_the_field(client: SchemaRegistryClient) -> None:
    subject = "sr.breaks"
    client.register_schema(subject, PLAIN)
    with pytest.raises(SchemaRegistryError, match="field battery: the new schema has no default") as refusal:
        client.register_schema(subject, WITHOUT_DEFAULT)
    assert refused(refusal) == (409, 409)
    assert client.get_versions(subject) == [1]
    assert client.test_compatibility(subject, WITH_DEW_POINT)
    assert not client.test_compatibility(subject, WITHOUT_DEFAULT)
    assert not client.test_compatibility_all_versions(subject, WITHOUT_DEFAULT)


def test_a_check_can_say_why(served: Served, client: SchemaRegistryClient) -> None:
    client.register_schema("sr.why", PLAIN)
    with served.node.client(served.node.token("why")) as http:
        said = http.post(
            "/schema-registry/compatibility/subjects/sr.why/versions/latest",
            params={"verbose": "true"},
            json={"schema": WITHOUT_DEFAULT.schema_str},
        ).json()
    assert said == {
        "is_compatible": False,
        "messages": ["field battery: the new schema has no default for it, and version 1 does not have it"],
    }


def test_levels_of_a_subject_and_of_all(client: SchemaRegistryClient) -> None:
    subject = "sr.levels"
    assert client.get_compatibility() == "BACKWARD"
    with pytest.raises(SchemaRegistryError) as none_yet:
        client.get_compatibility(subject)
    assert refused(none_yet) == (404, 40408)
    client.set_compatibility(subject, "NONE")
    assert client.get_compatibility(subject) == "NONE"
    client.register_schema(subject, PLAIN)
    client.register_schema(subject, WITHOUT_DEFAULT)
    client.set_compatibility(subject, "full_transitive")
    with pytest.raises(SchemaRegistryError, match="field battery: version 2 has no default"):
        client.register_schema(subject, WITH_DEW_POINT)
    client.delete_config(subject)
    with pytest.raises(SchemaRegistryError) as gone:
        client.get_compatibility(subject)
    assert refused(gone) == (404, 40408)
    with pytest.raises(SchemaRegistryError) as wrong:
        client.set_compatibility(subject, "SIDEWARD")
    assert refused(wrong) == (422, 42203)


def test_deletion_is_soft_first_and_then_for_good(client: SchemaRegistryClient) -> None:
    subject = "sr.deleted"
    schema_id = client.register_schema(subject, PLAIN)
    client.register_schema(subject, WITH_DEW_POINT)
    with pytest.raises(SchemaRegistryError) as too_early:
        client.delete_version(subject, 1, permanent=True)
    assert refused(too_early) == (404, 40407)
    assert client.delete_version(subject, 1) == 1
    assert client.get_versions(subject) == [2]
    assert client.delete_subject(subject) == [2]
    assert subject not in client.get_subjects()
    assert subject in client.get_subjects(deleted=True)
    client.clear_caches()  # type: ignore[no-untyped-call]
    assert client.get_schema(schema_id)
    assert client.delete_subject(subject, permanent=True) == [1, 2]
    with pytest.raises(SchemaRegistryError) as gone:
        client.get_versions(subject)
    assert refused(gone) == (404, 40401)


def test_a_deleted_schema_comes_back_as_another_version(client: SchemaRegistryClient) -> None:
    subject = "sr.again"
    first = client.register_schema(subject, PLAIN)
    client.delete_subject(subject)
    client.clear_caches()  # type: ignore[no-untyped-call]
    assert client.register_schema(subject, PLAIN) == first
    assert client.get_versions(subject) == [2]


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/subjects/sr.nowhere/versions", 40401),
        ("GET", "/subjects/sr.errors/versions/7", 40402),
        ("GET", "/subjects/sr.errors/versions/0", 42202),
        ("GET", "/subjects/sr.errors/versions/newest", 42202),
        ("GET", "/schemas/ids/1", 40403),
        ("GET", "/schemas/ids/one", 422),
        ("POST", "/subjects/sr.errors", 40403),
        ("POST", "/subjects/a%20b/versions", 42208),
        ("DELETE", "/subjects/sr.nowhere", 40401),
        ("DELETE", "/subjects/sr.errors?permanent=true", 40405),
        ("PUT", "/mode", 42205),
        ("PATCH", "/mode", 405),
        ("GET", "/elsewhere", 404),
    ],
)
def test_refusals_have_confluents_form(
    served: Served, client: SchemaRegistryClient, method: str, path: str, code: int
) -> None:
    client.register_schema("sr.errors", PLAIN)
    with served.node.client(served.node.token("errors")) as http:
        body = {"schema": WITH_DEW_POINT.schema_str} if method == "POST" else None
        answer = http.request(method, f"/schema-registry{path}", json=body)
    assert answer.status_code == int(str(code)[:3])
    assert answer.headers["content-type"] == "application/vnd.schemaregistry.v1+json"
    assert answer.json()["error_code"] == code
    assert answer.json()["message"]


@pytest.mark.parametrize(
    "body",
    [
        {"schema": "{}"},
        {"schema": PLAIN.schema_str, "schemaType": "JSON"},
        {"schema": PLAIN.schema_str, "references": [{"name": "a", "subject": "b", "version": 1}]},
    ],
)
def test_what_is_no_avro_schema_is_refused(served: Served, body: dict[str, Any]) -> None:
    with served.node.client(served.node.token("errors")) as http:
        answer = http.post("/schema-registry/subjects/sr.invalid/versions", json=body)
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42201)


def test_reading_and_writing_are_rights_of_their_own(served: Served) -> None:
    reader = served.client(Scope.REGISTRY_READ)
    assert reader.get_compatibility() == "BACKWARD"
    with pytest.raises(SchemaRegistryError) as refusal:
        reader.register_schema("sr.refused", PLAIN)
    assert refused(refusal) == (403, 403)
    with served.node.client("ctm.schemas.wrong") as http:
        assert http.get("/schema-registry/subjects").status_code == 401
    with served.node.client() as http:
        assert http.get("/schema-registry/subjects").json()["error_code"] == 401


def test_schemas_of_other_sites_are_found_by_id_and_cannot_be_changed(
    cluster: Config, client: SchemaRegistryClient, served: Served
) -> None:
    elsewhere = parse(schema({"name": "speed", "type": "double"}, name="Wind").schema_str or "")
    version = SchemaVersion(
        site="sr-oslo", subject="sr.wind", version=3, id=elsewhere.id, text=elsewhere.text
    )
    writer = producer(cluster, Party.RELAY)
    writer.produce(Kind.SCHEMAS.topic, version.model_dump_json(), version.key)
    writer.flush()
    subject = ":.sr-oslo:sr.wind"
    wait_until(lambda: subject in client.get_subjects())
    assert client.get_schema(elsewhere.id).schema_str == elsewhere.text
    assert client.get_latest_version(subject).version == 3
    with pytest.raises(SchemaRegistryError) as refusal:
        client.register_schema(subject, PLAIN)
    assert refused(refusal) == (422, 42205)
    with served.node.client(served.node.token("contexts")) as http:
        assert ".sr-oslo" in http.get("/schema-registry/contexts").json()
        assert http.get(f"/schema-registry/mode/{subject}").json() == {"mode": "READONLY"}


def test_a_collision_of_ids_is_refused(cluster: Config, served: Served) -> None:
    offered = parse(schema({"name": "level", "type": "int"}, name="Tank").schema_str or "")
    other = SchemaVersion(site="sr-bergen", subject="sr.other", version=1, id=offered.id, text='"string"')
    writer = producer(cluster, Party.RELAY)
    writer.produce(Kind.SCHEMAS.topic, other.model_dump_json(), other.key)
    writer.flush()
    registry: SchemaRegistry = served.node.app.state.services.schemas
    wait_until(lambda: ":.sr-bergen:sr.other" in registry.subjects())
    with pytest.raises(SchemaRefused, match=r"is that of a different one, of :\.sr-bergen:sr\.other"):
        registry.register("sr.tank", offered.text)
    writer.produce(Kind.SCHEMAS.topic, None, other.key)
    writer.flush()


def test_shipped_schemas_are_registered_once_and_stay_deleted(cluster: Config) -> None:
    config = cluster.model_copy(update={"site": "sr-shipped"})
    tables = Tables(config, Party.API)
    registry = SchemaRegistry(config.site, tables)
    tables.start()
    shipping = ShippedSchemas(registry, tables)
    shipping.start()
    try:
        wait_until(lambda: tables.caught_up and set(registry.subjects()) >= set(shipped()))
        registry.delete_subject(TEMPERATURE)
        register_shipped(registry)
        assert TEMPERATURE not in registry.subjects()
        assert len(registry.versions(TEMPERATURE, deleted=True)) == 1
    finally:
        shipping.stop()
        tables.stop()
