"""The way from a spool to Kafka, with everything that can be set about it."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import NewTopic

from catchment.bench.site import free_ports
from catchment.config import Config
from catchment.config.forwarding import Compression, Hashing, Routing
from catchment.consume.source import stamp_of
from catchment.gateway.forwarder import Forwarder
from catchment.gateway.intake import Intake
from catchment.gateway.routing import HASHES
from catchment.gateway.spool import Spool
from catchment.kafka.clients import admin, producer, read_all
from catchment.kafka.identities import bootstrap_servers, identity_of
from catchment.kafka.parties import Party
from catchment.node.process import Child
from catchment.records import Kind
from tests.conftest import MakeConfig, RunBroker
from tests.second_broker import second_broker

WAIT_S = 180.0
PARTITIONERS = {Hashing.CRC32: "consistent", Hashing.FNV1A: "fnv1a", Hashing.MURMUR2: "murmur2"}


def with_gateway(config: Config, name: str, **settings: Any) -> Config:
    """The same Kafka, with a gateway of its own."""
    changed = config.gateway.model_copy(update={"name": name, **settings})
    return config.model_copy(update={"gateway": changed})


class Way:
    """A spool and its forwarder, without listeners."""

    def __init__(self, config: Config, directory: Path) -> None:
        self._spool = Spool(directory, config.gateway.spool)
        self._intake = Intake(self._spool, config.gateway.spool.when_full)
        self.forwarder = Forwarder(config, self._spool)

    def start(self) -> None:
        self._spool.start()
        self.forwarder.start()

    async def accept(self, stream: str, count: int) -> None:
        await self._intake.accept(stream, [b"%d" % number for number in range(count)])

    async def wait_until(self, reached: Callable[[], bool]) -> None:
        deadline_s = time.monotonic() + WAIT_S
        while not reached():
            assert time.monotonic() < deadline_s
            await asyncio.sleep(0.02)

    async def wait_until_forwarded(self) -> None:
        await self.wait_until(lambda: self.forwarder.behind_bytes == 0)

    def close(self) -> None:
        self._spool.close()
        self.forwarder.close(WAIT_S)


@asynccontextmanager
async def open_way(config: Config, directory: Path) -> AsyncIterator[Way]:
    way = Way(config, directory)
    way.start()
    try:
        yield way
    finally:
        await asyncio.to_thread(way.close)


async def forward(config: Config, directory: Path, streams: dict[str, int]) -> None:
    """What one run of a gateway does with so many messages of each stream."""
    async with open_way(config, directory) as way:
        for stream, count in streams.items():
            await way.accept(stream, count)
        await way.wait_until_forwarded()


def records_of(config: Config, gateway: str) -> dict[str, list[tuple[int, int]]]:
    """For each stream of a gateway the partitions and numbers of its records, in their order."""
    found: dict[str, list[tuple[int, int]]] = {}
    for message in read_all(config, Party.OPERATOR, Kind.RECORDS.topic):
        stamp = stamp_of(message)
        if stamp and stamp.source.gateway == gateway:
            found.setdefault(stamp.source.stream, []).append((message.partition() or 0, stamp.sequence))
    return found


@pytest.mark.parametrize("hashing", list(Hashing))
def test_a_hash_is_that_of_librdkafka(cluster: Config, hashing: Hashing) -> None:
    topic, partitions = f"hashing-{hashing}", 7
    client = admin(cluster)
    client.create_topics([NewTopic(topic, partitions, 1)])[topic].result()
    writer = producer(cluster, Party.ADMIN, partitioner=PARTITIONERS[hashing])
    for number in range(100):
        writer.produce(topic, b"", b"oslo/press-%d" % number)
    assert writer.flush(WAIT_S) == 0
    there = {message.key() or b"": message.partition() for message in read_all(cluster, Party.ADMIN, topic)}
    assert there == {key: HASHES[hashing](key) % partitions for key in there}
    assert len(there) == 100


@pytest.mark.parametrize("compression", list(Compression))
def test_every_compression_arrives(cluster: Config, tmp_path: Path, compression: Compression) -> None:
    name = f"compressed-{compression}"
    asyncio.run(forward(with_gateway(cluster, name, compression=compression), tmp_path, {name: 100}))
    assert [number for _, number in records_of(cluster, name)[name]] == list(range(1, 101))


def test_round_robin_keeps_a_stream_in_its_partition_also_after_a_restart(
    cluster: Config, tmp_path: Path
) -> None:
    config = with_gateway(cluster, "in-turn", routing=Routing.ROUND_ROBIN)
    streams = {f"turn-{number}": 3 for number in range(4)}
    asyncio.run(forward(config, tmp_path, streams))
    asyncio.run(forward(config, tmp_path, dict(reversed(streams.items()))))
    expected = {
        stream: [(partition, number) for number in range(1, 7)] for partition, stream in enumerate(streams)
    }
    assert records_of(cluster, "in-turn") == expected


def test_no_more_than_allowed_is_on_its_way_to_a_partition(cluster: Config, tmp_path: Path) -> None:
    # A long linger, so that what is on its way stays there for a while.
    config = with_gateway(cluster, "bounded", queue_partition_records=1000, linger_ms=300)
    queued: list[int] = []

    async def run() -> None:
        async with open_way(config, tmp_path) as way:
            for _ in range(3):
                await way.accept("bounded", 1000)
            await way.wait_until(lambda: _note(queued, way.forwarder))

    asyncio.run(run())
    assert max(queued) == 1000
    assert [number for _, number in records_of(cluster, "bounded")["bounded"]] == list(range(1, 3001))


def _note(queued: list[int], forwarder: Forwarder) -> bool:
    queued.append(forwarder.queued_records)
    return forwarder.behind_bytes == 0


def test_it_begins_with_another_broker_when_the_first_is_away(
    cluster: Config, make_config: MakeConfig, tmp_path: Path
) -> None:
    identity = identity_of(cluster, Party.ADMIN)
    files = {
        "ca_file": identity.ca_file,
        "certificate_file": identity.certificate_file,
        "key_file": identity.key_file,
    }
    servers = f"127.0.0.1:1,{bootstrap_servers(cluster)}"
    config = with_gateway(make_config(kafka={"bootstrap_servers": servers, "tls": files}), "undaunted")
    asyncio.run(forward(config, tmp_path, {"undaunted": 100}))
    assert len(records_of(cluster, "undaunted")["undaunted"]) == 100


@pytest.fixture(scope="module")
def own(make_config: MakeConfig, run_broker: RunBroker) -> Iterator[tuple[Config, Child]]:
    """A broker to be frozen, with a gateway that does not wait long for it."""
    config = make_config(gateway={"send_timeout_s": 1})
    with run_broker(config) as broker:
        yield config, broker


def test_what_is_not_confirmed_in_time_is_sent_again_and_is_there_once(
    own: tuple[Config, Child], tmp_path: Path
) -> None:
    config, broker = own

    async def run() -> None:
        async with open_way(config, tmp_path) as way:
            await way.accept("patient", 1000)
            await way.wait_until_forwarded()
            os.kill(broker.pid, signal.SIGSTOP)
            await way.accept("patient", 1000)
            await asyncio.sleep(3 * config.gateway.send_timeout_s)
            assert way.forwarder.behind_bytes > 0
            os.kill(broker.pid, signal.SIGCONT)
            await way.wait_until_forwarded()

    asyncio.run(run())
    assert [number for _, number in records_of(config, "gateway")["patient"]] == list(range(1, 2001))


def test_it_goes_on_with_another_broker_when_one_dies(own: tuple[Config, Child], tmp_path: Path) -> None:
    (port,) = free_ports(1)
    config = with_gateway(own[0], "agile", routing=Routing.ROUND_ROBIN)
    # A stream for each partition, so that some are led by the broker that dies.
    streams = [f"agile-{number}" for number in range(4)]

    async def run(broker: Child) -> None:
        async with open_way(config, tmp_path) as way:
            for stream in streams:
                await way.accept(stream, 1000)
            await way.wait_until_forwarded()
            broker.kill()
            for stream in streams:
                await way.accept(stream, 1000)
            await way.wait_until_forwarded()

    with second_broker(config, port) as broker:
        _make_records_with_two_copies(config)
        asyncio.run(run(broker))
    there = records_of(config, "agile")
    for stream in streams:
        assert [number for _, number in there[stream]] == list(range(1, 2001))


def _make_records_with_two_copies(config: Config) -> None:
    topic, client = Kind.RECORDS.topic, admin(config)
    client.delete_topics([topic])[topic].result()
    copied = NewTopic(topic, 4, 2, config={"min.insync.replicas": "1"})
    deadline_s = time.monotonic() + WAIT_S
    while True:
        try:
            client.create_topics([copied])[topic].result()
        except KafkaException:
            # The former one is not quite gone yet.
            assert time.monotonic() < deadline_s
            time.sleep(0.2)
        else:
            return
