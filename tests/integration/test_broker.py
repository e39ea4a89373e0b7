"""The embedded broker: started, killed and started again, with its topics as they are declared."""

import socket
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from catchment.class_archives import BROKER, archive_of
from catchment.config import Config
from catchment.errors import BrokerUnavailable, ConfigurationError, PartFailed
from catchment.kafka.broker import BrokerProbe, command, wait_until_ready
from catchment.kafka.clients import admin, consumer, end_offsets, producer, read_all
from catchment.kafka.parties import Party
from catchment.kafka.topics import TOPICS, ensure_topics
from catchment.records import Kind
from catchment.security.files import write_private
from tests.conftest import MakeConfig, RunBroker

IDLE_MIB = 400


@pytest.fixture(scope="module")
def broker(make_config: MakeConfig, run_broker: RunBroker) -> Iterator[Config]:
    """A broker of this file's own, because its topics are altered."""
    config = make_config()
    with run_broker(config):
        yield config


def _with_topics(config: Config, **topics: dict[str, float]) -> Config:
    kafka = config.kafka.model_dump() | {"topics": topics}
    return Config.model_validate({**config.model_dump(), "kafka": kafka})


def _settings(client: AdminClient, kind: Kind) -> dict[str, str]:
    (described,) = client.describe_configs([ConfigResource(ResourceType.TOPIC, kind.topic)]).values()
    return {name: entry.value for name, entry in described.result().items()}


def _send(config: Config, values: list[bytes]) -> None:
    sender, errors = producer(config, Party.GATEWAY), set[str]()
    for value in values:
        sender.produce(Kind.RECORDS.topic, value, b"one", on_delivery=lambda error, _: errors.add(str(error)))
    assert sender.flush(20) == 0
    assert errors == {"None"}


def _received(config: Config) -> list[bytes | None]:
    return [message.value() for message in read_all(config, Party.OPERATOR, Kind.RECORDS.topic)]


def test_topics_are_created_as_declared_and_then_left_alone(broker: Config) -> None:
    client = admin(broker)
    for kind, spec in TOPICS.items():
        description = client.list_topics(kind.topic, timeout=10).topics[kind.topic]
        assert len(description.partitions) == spec.partitions
        settings = _settings(client, kind)
        assert {name: settings[name] for name in spec.settings(1)} == spec.settings(1)
    assert ensure_topics(broker) == []


def test_topics_are_altered_to_match(broker: Config) -> None:
    changed = _with_topics(broker, deadletter={"retention_hours": 2, "partitions": 3})
    assert ensure_topics(changed) == [
        "catchment.v1.deadletter: partitions 1 → 3",
        "catchment.v1.deadletter: retention.ms 2592000000 → 7200000",
        "catchment.v1.deadletter: segment.ms 86400000 → 1800000",
    ]
    assert _settings(admin(broker), Kind.DEADLETTER)["retention.ms"] == "7200000"
    assert ensure_topics(changed) == []
    with pytest.raises(ConfigurationError, match=r"Set kafka\.topics\.deadletter\.partitions to 3 or more"):
        ensure_topics(_with_topics(broker, deadletter={"partitions": 2}))


def test_more_copies_than_brokers_are_refused(broker: Config) -> None:
    client = admin(broker)
    client.delete_topics([Kind.MARKS.topic])[Kind.MARKS.topic].result()
    three = broker.kafka.model_copy(update={"replication_factor": 3, "topics": broker.kafka.topics})
    with pytest.raises(ConfigurationError, match=r"kafka\.replication_factor"):
        ensure_topics(broker.model_copy(update={"kafka": three}))


def test_reading_stops_at_the_end_that_was_there_at_the_call(broker: Config) -> None:
    _send(broker, [b"before"] * 10)
    messages = read_all(broker, Party.OPERATOR, Kind.RECORDS.topic)
    assert next(messages).value() == b"before"
    _send(broker, [b"after"] * 10)
    assert [message.value() for message in messages] == [b"before"] * 9
    with consumer(broker, Party.OPERATOR) as client:
        assert sum(end_offsets(client, Kind.RECORDS.topic).values()) == 20


def test_what_was_acknowledged_survives_kill_9(make_config: MakeConfig, run_broker: RunBroker) -> None:
    config = make_config()
    sent = [b"%d" % number for number in range(5000)]
    prober = BrokerProbe(config, Party.GATEWAY)
    with run_broker(config) as child:
        _send(config, sent)
        prober.check(timeout_s=5)
        assert psutil.Process(child.pid).memory_info().rss < IDLE_MIB << 20
        child.kill()
        with pytest.raises(BrokerUnavailable):
            prober.check(timeout_s=1)
    cluster_id = (config.paths.kafka / "cluster-id").read_text()
    with run_broker(config):
        prober.check(timeout_s=10)
        assert _received(config) == sent
    assert (config.paths.kafka / "cluster-id").read_text() == cluster_id


def test_storage_is_formatted_also_under_an_id_that_starts_with_a_dash(make_config: MakeConfig) -> None:
    config = make_config()
    write_private(config.paths.kafka / "cluster-id", b"-QEkXTOaQ12Gd0hXRZhcWA")
    command(config)
    assert "cluster.id=-QEkXTOaQ12Gd0hXRZhcWA" in (config.paths.kafka / "log/meta.properties").read_text()


def test_a_broker_that_cannot_start_is_reported_at_once(
    make_config: MakeConfig, run_broker: RunBroker
) -> None:
    config = make_config()
    taken = socket.create_server(("127.0.0.1", config.kafka.port))
    with taken, pytest.raises(PartFailed, match=r"broker\.log"), run_broker(config):
        pytest.fail("two listeners on one port")
    assert "Address already in use" in (config.paths.logs / "broker.log").read_text()


def test_a_broker_that_does_not_answer_in_time_is_reported(make_config: MakeConfig) -> None:
    with pytest.raises(BrokerUnavailable, match="not ready after 0 s"):
        wait_until_ready(make_config(), lambda: True, timeout_s=0)


def test_whatever_the_broker_needs_is_private_and_its_command_readable(broker: Config) -> None:
    arguments = command(broker)
    assert len(" ".join(arguments)) < 1000
    paths = broker.paths
    private = [*paths.identities.iterdir(), *paths.kafka.glob("*.*"), *paths.logs.iterdir()]
    assert {file.stat().st_mode & 0o077 for file in private} == {0}
    for directory in (paths.identities, paths.kafka, paths.logs):
        assert directory.stat().st_mode & 0o777 == 0o700


def test_every_refusal_is_logged(broker: Config) -> None:
    with consumer(broker, Party.API) as client:
        assert client.list_topics(Kind.RECORDS.topic, timeout=10).topics[Kind.RECORDS.topic].error
    log = (broker.paths.logs / "broker.log").read_text()
    assert "Principal = User:api is Denied" in log


def test_it_starts_from_the_archive_of_its_classes(make_config: MakeConfig, run_broker: RunBroker) -> None:
    with run_broker(make_config()) as child:
        mapped = {Path(each.path) for each in psutil.Process(child.pid).memory_maps()}
        assert archive_of(BROKER) in mapped
