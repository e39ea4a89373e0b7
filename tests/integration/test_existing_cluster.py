"""A cluster that is there already, with an identity in files, instead of an embedded broker."""

from pathlib import Path

import pytest
from confluent_kafka.admin import NewTopic

from catchment.config import Config
from catchment.errors import BrokerUnavailable
from catchment.kafka.broker import prepare_cluster, probe
from catchment.kafka.clients import admin, producer, read_all, spark_options
from catchment.kafka.identities import bootstrap_servers, identity_of
from catchment.kafka.parties import Party
from tests.conftest import MakeConfig

TOPIC = "existing-cluster"


@pytest.fixture(scope="module")
def existing(cluster: Config, make_config: MakeConfig) -> Config:
    """A node that uses the shared broker as if it belonged to somebody else."""
    identity = identity_of(cluster, Party.ADMIN)
    files = {
        "ca_file": identity.ca_file,
        "certificate_file": identity.certificate_file,
        "key_file": identity.key_file,
    }
    return make_config(kafka={"bootstrap_servers": bootstrap_servers(cluster), "tls": files})


def test_it_answers_and_has_the_topics_already(existing: Config) -> None:
    probe(existing, timeout_s=10)
    assert prepare_cluster(existing) == []


def test_clients_write_and_read(existing: Config) -> None:
    client = admin(existing)
    client.create_topics([NewTopic(TOPIC, 3, 1)])[TOPIC].result()
    sender = producer(existing, Party.GATEWAY)
    for number in range(100):
        sender.produce(TOPIC, b"%d" % number)
    assert sender.flush(10) == 0
    values = {message.value() for message in read_all(existing, Party.API, TOPIC)}
    assert values == {b"%d" % number for number in range(100)}


def test_spark_gets_one_private_file_with_the_identity(cluster: Config, existing: Config) -> None:
    options = spark_options(existing, Party.PIPELINE)
    combined = Path(options["kafka.ssl.keystore.location"])
    assert options["kafka.bootstrap.servers"] == bootstrap_servers(cluster)
    assert combined.parent == existing.paths.identities
    assert combined.stat().st_mode & 0o777 == 0o600
    assert not (existing.paths.identities / "ca.key").exists()


def test_a_cluster_that_does_not_answer_is_unavailable(existing: Config, make_config: MakeConfig) -> None:
    away = make_config(kafka={"bootstrap_servers": "127.0.0.1:1", "tls": existing.kafka.tls})
    with pytest.raises(BrokerUnavailable, match="Asking Kafka failed"):
        probe(away, timeout_s=1)
