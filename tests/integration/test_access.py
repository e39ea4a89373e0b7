"""Who is let in by a real broker, and what it lets them do."""

import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

from catchment.config import Config
from catchment.errors import AccessRefused
from catchment.kafka.access import READS, SUPER_USERS, WRITES, ensure_access, filter_for
from catchment.kafka.clients import admin, client_settings, consumer, producer, read_all
from catchment.kafka.parties import Party
from catchment.records import Kind
from catchment.security.authority import Authority
from tests.conftest import MakeConfig, RunBroker

PATIENCE_S = 15.0
PARTIES = [party for party in Party if party not in SUPER_USERS]


@pytest.fixture(scope="module")
def guarded(make_config: MakeConfig, run_broker: RunBroker) -> Iterator[Config]:
    """A broker of this file's own, because what is allowed is written to its topics."""
    config = make_config()
    with run_broker(config):
        yield config


def _refusal_at_the_door(settings: dict[str, Any]) -> str:
    """What a client is told that does not even get to ask."""
    told: list[str] = []
    listening: dict[str, Any] = {**settings, "error_cb": lambda error: told.append(error.str())}
    client = AdminClient(listening)
    deadline_s = time.monotonic() + PATIENCE_S
    while not told and time.monotonic() < deadline_s:
        client.poll(0.1)
    return " ".join(told)


def _refused_to_write(settings: dict[str, Any], kind: Kind) -> bool:
    outcomes: list[KafkaError | None] = []
    client = Producer({**settings, "message.timeout.ms": int(PATIENCE_S * 1000)})
    client.produce(kind.topic, b"value", key=b"key", on_delivery=lambda error, _: outcomes.append(error))
    assert client.flush(PATIENCE_S) == 0
    (error,) = outcomes
    assert error is None or error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
    return error is not None


def _readable(config: Config, party: Party) -> set[Kind]:
    """What Kafka delivers to a party: other topics it hides, or shows and refuses to deliver."""
    readable, undecided = set[Kind](), set[Kind]()
    with consumer(config, party, enable_partition_eof=True, fetch_wait_max_ms=50) as client:
        visible = client.list_topics(timeout=PATIENCE_S).topics
        undecided |= {kind for kind in Kind if kind.topic in visible}
        client.assign([TopicPartition(kind.topic, 0, 0) for kind in undecided])
        while undecided:
            message = client.poll(PATIENCE_S)
            assert message is not None, f"neither the end nor a refusal: {undecided}"
            error, kind = message.error(), next(kind for kind in Kind if kind.topic == message.topic())
            if error and error.code() == KafkaError._PARTITION_EOF:
                readable.add(kind)
            if error:
                assert error.code() in (KafkaError._PARTITION_EOF, KafkaError.TOPIC_AUTHORIZATION_FAILED)
                undecided.discard(kind)
    return readable


@pytest.mark.parametrize("door", ["port", "controller_port"])
def test_without_a_certificate_nobody_gets_in(guarded: Config, door: str) -> None:
    settings = client_settings(guarded, Party.ADMIN)
    del settings["ssl.certificate.location"], settings["ssl.key.location"]
    settings["bootstrap.servers"] = f"127.0.0.1:{getattr(guarded.kafka, door)}"
    assert "alert bad certificate" in _refusal_at_the_door(settings)


def test_the_certificate_of_another_authority_does_not_count(guarded: Config, tmp_path: Path) -> None:
    stranger = Authority(tmp_path).identity("admin")
    settings = client_settings(guarded, Party.ADMIN) | {
        "ssl.certificate.location": str(stranger.certificate_file),
        "ssl.key.location": str(stranger.key_file),
    }
    assert "alert certificate unknown" in _refusal_at_the_door(settings)


def test_a_broker_of_another_authority_is_not_believed(guarded: Config, tmp_path: Path) -> None:
    stranger = Authority(tmp_path).identity("admin")
    settings = client_settings(guarded, Party.ADMIN) | {"ssl.ca.location": str(stranger.ca_file)}
    assert "certificate verify failed" in _refusal_at_the_door(settings)


def test_plaintext_is_not_spoken(guarded: Config) -> None:
    settings = {"bootstrap.servers": client_settings(guarded, Party.ADMIN)["bootstrap.servers"]}
    assert "brokers are down" in _refusal_at_the_door({**settings, "security.protocol": "plaintext"})


@pytest.mark.parametrize("party", PARTIES)
def test_each_party_may_write_what_the_table_says_and_nothing_else(guarded: Config, party: Party) -> None:
    refused = {kind for kind in Kind if _refused_to_write(client_settings(guarded, party), kind)}
    assert set(Kind) - refused == set(WRITES.get(party, ()))


@pytest.mark.parametrize("party", PARTIES)
def test_each_party_may_read_what_the_table_says_and_nothing_else(guarded: Config, party: Party) -> None:
    assert _readable(guarded, party) == set(READS.get(party, ()))


def test_a_provider_is_known_to_the_authority_and_has_no_right_in_kafka(guarded: Config) -> None:
    provider = Authority(guarded.paths.identities).identity("provider.meter-7")
    settings = client_settings(guarded, Party.ADMIN) | {
        "ssl.certificate.location": str(provider.certificate_file),
        "ssl.key.location": str(provider.key_file),
    }
    client = AdminClient(settings)
    assert client.list_topics(timeout=PATIENCE_S).topics == {}
    assert all(_refused_to_write(settings, kind) for kind in Kind)
    creation = client.create_topics([NewTopic("provider-own", 1, 1)])["provider-own"]
    with pytest.raises(KafkaException, match="AUTHORIZATION_FAILED"):
        creation.result()


@pytest.mark.parametrize("group", ["strangers", Party.OPERATOR.group])
def test_nobody_joins_a_group(guarded: Config, group: str) -> None:
    with consumer(guarded, Party.OPERATOR, group_id=group) as client:
        client.subscribe([Kind.RECORDS.topic])
        message = client.poll(PATIENCE_S)
    assert message is not None
    error = message.error()
    assert error is not None
    assert error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED


def test_what_the_gateway_writes_the_operator_reads(guarded: Config) -> None:
    before = len(list(read_all(guarded, Party.OPERATOR, Kind.RECORDS.topic)))
    sender = producer(guarded, Party.GATEWAY)
    for number in range(1000):
        sender.produce(Kind.RECORDS.topic, b"%d" % number, key=b"%d" % (number % 7))
    assert sender.flush(PATIENCE_S) == 0
    values = [message.value() for message in read_all(guarded, Party.OPERATOR, Kind.RECORDS.topic)]
    assert len(values) == before + 1000
    assert {b"%d" % number for number in range(1000)} <= set(values)


def test_reading_without_the_right_is_an_error_of_ours(guarded: Config) -> None:
    with pytest.raises(AccessRefused, match="Reading"):
        list(read_all(guarded, Party.API, Kind.RECORDS.topic))


def test_a_record_of_the_greatest_size_goes_through(guarded: Config) -> None:
    longest = bytes(itertools.islice(itertools.cycle(range(251)), 10_000_000))
    sender = producer(guarded, Party.GATEWAY)
    sender.produce(Kind.DEADLETTER.topic, longest)
    assert sender.flush(PATIENCE_S) == 0
    *_, last = read_all(guarded, Party.API, Kind.DEADLETTER.topic)
    assert last.value() == longest


def test_rights_that_are_ours_and_not_in_the_table_are_withdrawn(guarded: Config) -> None:
    client, api = admin(guarded), client_settings(guarded, Party.API)
    ours, foreign = map(_right_to_write_the_ledger, (Party.API.principal, "User:analyst"))
    assert ensure_access(guarded) == 0
    for creation in client.create_acls([ours, foreign]).values():
        creation.result()
    assert not _refused_to_write(api, Kind.LEDGER)
    assert ensure_access(guarded) == 1
    assert _refused_to_write(api, Kind.LEDGER)
    (left,) = client.delete_acls([filter_for(foreign)]).values()
    assert left.result() == [foreign]


def _right_to_write_the_ledger(principal: str) -> AclBinding:
    literal, allow = ResourcePatternType.LITERAL, AclPermissionType.ALLOW
    return AclBinding(
        ResourceType.TOPIC, Kind.LEDGER.topic, literal, principal, "*", AclOperation.WRITE, allow
    )
