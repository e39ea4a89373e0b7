"""The relay between real brokers: exactly once across kills, and honest about sources that change."""

import random
import shutil
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from confluent_kafka import KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import ConfigResource, NewPartitions, NewTopic, ResourceType

from catchment.config import Config
from catchment.health import State
from catchment.kafka.access import ensure_access
from catchment.kafka.clients import admin, consumer, end_offsets, producer
from catchment.kafka.identities import bootstrap_servers
from catchment.kafka.parties import Party
from catchment.records import STAMP_HEADER, Kind, Source, Stamp
from catchment.relay.model import Finding, Incident, SiteState
from catchment.relay.register import Site, Sites
from catchment.relay.runner import SiteRelay
from catchment.relay.states import site_states
from catchment.security.authority import Authority, Identity
from catchment.security.centres import Centres
from tests.conftest import MakeConfig, RunBroker
from tests.running_part import running_part
from tests.serving import serve

WAIT_S = 180.0
NEW_TOPIC_S = 10.0
RECORDS = Kind.RECORDS.topic
ALLOW = [RECORDS, Kind.MARKS.topic, "plant.*"]
RELAY = {"allow": ALLOW, "look_interval_s": 1, "restart_backoff_max_s": 2, "batch_records": 200}

Headers = list[tuple[str, str | bytes | None]]


@pytest.fixture(scope="module")
def brokers(make_config: MakeConfig, run_broker: RunBroker) -> Iterator[tuple[Config, Config]]:
    """A site and a centre, each with a broker of its own."""
    site = make_config(site="oslo", role="site", relay=RELAY)
    centre = make_config(site="hq", role="centre", relay=RELAY)
    with run_broker(site), run_broker(centre):
        yield site, centre


@pytest.fixture(scope="module")
def site(brokers: tuple[Config, Config]) -> Config:
    return brokers[0]


@pytest.fixture(scope="module")
def centre(brokers: tuple[Config, Config]) -> Config:
    """A centre that relays from the site, and from another one that is not there."""
    site, centre = brokers
    invitation = invite(site)
    sites = Sites(centre.paths.sites)
    sites.add("oslo", bootstrap_servers(site), invitation)
    sites.add("away", "127.0.0.1:1", invitation)
    return centre


@pytest.fixture(scope="class")
def relay(centre: Config) -> Iterator["subprocess.Popen[bytes]"]:
    with running_part(centre, "relay") as process:
        yield process


def invite(site: Config) -> Identity:
    identity = Centres(site.paths.centres).invite("hq", Authority(site.paths.identities))
    ensure_access(site)
    return identity


def wait_for(reached: Callable[[], bool], timeout_s: float = WAIT_S) -> None:
    deadline = time.monotonic() + timeout_s
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def state_of(centre: Config, name: str = "oslo") -> SiteState:
    return {state.name: state for state in site_states(centre)}[name]


def incidents_on(centre: Config, topic: str) -> list[Incident]:
    return [incident for incident in state_of(centre).incidents if incident.topic == topic]


def create(site: Config, topic: str, partitions: int = 1, **settings: str) -> None:
    client = admin(site)
    dotted = {name.replace("_", "."): value for name, value in settings.items()}
    client.create_topics([NewTopic(topic, partitions, 1, config=dotted)])[topic].result()


def delete(site: Config, topic: str) -> None:
    client = admin(site)
    client.delete_topics([topic])[topic].result()
    wait_for(lambda: topic not in client.list_topics(timeout=10).topics)


def delete_before(site: Config, topic: str, offset: int) -> None:
    client, place = admin(site), TopicPartition(topic, 0, offset)
    client.delete_records([place])[place].result()


def grow(site: Config, topic: str, partitions: int) -> None:
    client = admin(site)
    client.create_partitions([NewPartitions(topic, partitions)])[topic].result()
    wait_for(lambda: len(client.list_topics(timeout=10).topics[topic].partitions) == partitions)


def setting(config: Config, topic: str, name: str) -> str | None:
    client, resource = admin(config), ConfigResource(ResourceType.TOPIC, topic)
    value: str | None = client.describe_configs([resource])[resource].result()[name].value
    return value


def send(site: Config, topic: str, values: list[bytes], partition: int = 0) -> None:
    sender = producer(site, Party.ADMIN)
    for value in values:
        sender.produce(topic, value, partition=partition)
    assert sender.flush(WAIT_S) == 0


def read(config: Config, topic: str) -> list[Message]:
    """All that is committed on a topic, in the order of each partition; nothing if there is none."""
    with consumer(config, Party.ADMIN, enable_partition_eof=True, fetch_wait_max_ms=20) as reader:
        if topic not in reader.list_topics(timeout=10).topics:
            return []
        try:
            partitions = end_offsets(reader, topic)
        except KafkaException:
            # It is just being made.
            return []
        reader.assign([TopicPartition(topic, partition, 0) for partition in partitions])
        found, ended = [], 0
        while ended < len(partitions):
            message = reader.poll(WAIT_S)
            assert message is not None
            ended += message.error() is not None
            found += [] if message.error() else [message]
    return found


def values_at(config: Config, topic: str) -> list[bytes | None]:
    return [message.value() for message in read(config, topic)]


def content(message: Message) -> tuple[object, ...]:
    return message.key(), message.value(), message.headers(), message.timestamp()


def by_partition(messages: list[Message]) -> dict[int | None, list[tuple[object, ...]]]:
    partitions = defaultdict(list)
    for message in messages:
        partitions[message.partition()].append(content(message))
    return partitions


class Gateways:
    """Stamped records of several streams, produced bit by bit."""

    def __init__(self, site: Config) -> None:
        self._writer: Producer = producer(site, Party.GATEWAY)
        self._sources = [Source("oslo", "gate", 1, f"stream-{number}") for number in range(5)]
        self.sent = 0

    def send(self, count: int) -> None:
        for _ in range(count):
            source = self._sources[self.sent % len(self._sources)]
            stamp = Stamp(source, self.sent // len(self._sources) + 1, time.time_ns() // 1000)
            headers: Headers = [(STAMP_HEADER, stamp.encode())]
            self._writer.produce(RECORDS, b"%d" % self.sent, source.key, headers=headers)
            self.sent += 1
        assert self._writer.flush(WAIT_S) == 0


def test_killed_at_any_moment_it_relays_everything_once_and_in_order(site: Config, centre: Config) -> None:
    moments = random.Random(4)
    gateways = Gateways(site)
    gateways.send(20_000)
    for _ in range(5):
        with running_part(centre, "relay") as process:
            gateways.send(2_000)
            time.sleep(moments.uniform(0, 0.8))
            process.send_signal(signal.SIGKILL)
            process.wait()
    with running_part(centre, "relay"):
        wait_for(lambda: state_of(centre).lag_records == 0)
    at_site, at_centre = read(site, RECORDS), read(centre, RECORDS)
    assert len(at_site) == gateways.sent == 30_000
    assert by_partition(at_centre) == by_partition(at_site)


@pytest.mark.usefixtures("relay")
class TestRunning:
    def test_a_new_topic_comes_with_all_that_its_records_have(self, site: Config, centre: Config) -> None:
        # A site whose clock is a day ahead takes what a centre would refuse by default.
        create(site, "plant.new", partitions=3, message_timestamp_after_max_ms=str(2**63 - 1))
        sender = producer(site, Party.ADMIN)
        old_ms = 1_500_000_000_000
        sender.produce("plant.new", b"value", b"key", 2, timestamp=old_ms, headers=[("a", b"1"), ("a", None)])
        future_ms = round(time.time() * 1000) + 86_400_000
        sender.produce("plant.new", None, b"tombstone", 2, timestamp=future_ms)
        sender.produce("plant.new", b"", b"", 0)
        sender.produce("plant.new", b"no key", None, 1)
        assert sender.flush(WAIT_S) == 0
        wait_for(lambda: len(read(centre, "plant.new")) == 4, NEW_TOPIC_S)
        assert by_partition(read(centre, "plant.new")) == by_partition(read(site, "plant.new"))
        assert (1, old_ms) in [message.timestamp() for message in read(centre, "plant.new")]

    def test_a_topic_that_is_not_on_the_list_stays(self, site: Config, centre: Config) -> None:
        create(site, "private")
        send(site, "private", [b"secret"])
        create(site, "plant.after")
        send(site, "plant.after", [b"public"])
        wait_for(lambda: values_at(centre, "plant.after") == [b"public"])
        assert "private" not in admin(centre).list_topics(timeout=10).topics
        assert values_at(centre, Kind.LEDGER.topic) == []

    def test_a_topic_grows_with_the_sites(self, site: Config, centre: Config) -> None:
        create(site, "plant.grows")
        send(site, "plant.grows", [b"before"])
        wait_for(lambda: values_at(centre, "plant.grows") == [b"before"])
        grow(site, "plant.grows", 2)
        send(site, "plant.grows", [b"after"], partition=1)
        wait_for(lambda: values_at(centre, "plant.grows") == [b"before", b"after"])

    def test_a_compacted_topic_is_compacted_at_the_centre(self, site: Config, centre: Config) -> None:
        create(site, "plant.register", cleanup_policy="compact")
        wait_for(lambda: "plant.register" in admin(centre).list_topics(timeout=10).topics)
        assert setting(centre, "plant.register", "cleanup.policy") == "compact"

    @pytest.mark.parametrize("records", [1, 30])
    def test_a_recreated_topic_is_named_and_begun_anew(
        self, site: Config, centre: Config, records: int
    ) -> None:
        topic = f"plant.recreated-{records}"
        create(site, topic)
        send(site, topic, [b"a", b"b"])
        wait_for(lambda: values_at(centre, topic) == [b"a", b"b"])
        delete(site, topic)
        create(site, topic)
        fresh = [b"%d" % number for number in range(records)]
        send(site, topic, fresh)
        wait_for(lambda: values_at(centre, topic) == [b"a", b"b", *fresh])
        (found,) = incidents_on(centre, topic)
        assert (found.finding, found.first_offset) == (Finding.RECREATED, 2)

    def test_a_site_that_is_away_holds_up_nobody(self, centre: Config) -> None:
        wait_for(lambda: state_of(centre, "away").state is State.RESTARTING)
        assert "away" in state_of(centre, "away").last_error
        assert state_of(centre).state is State.RUNNING

    def test_a_paused_site_waits_and_goes_on_where_it_was(self, site: Config, centre: Config) -> None:
        sites = Sites(centre.paths.sites)
        create(site, "plant.paused")
        send(site, "plant.paused", [b"1"])
        wait_for(lambda: values_at(centre, "plant.paused") == [b"1"])
        sites.pause("oslo", True)
        wait_for(lambda: state_of(centre).detail == "paused")
        send(site, "plant.paused", [b"2"])
        time.sleep(1)
        assert values_at(centre, "plant.paused") == [b"1"]
        sites.pause("oslo", False)
        wait_for(lambda: values_at(centre, "plant.paused") == [b"1", b"2"])

    def test_a_centre_whose_right_is_withdrawn_says_so(self, site: Config, centre: Config) -> None:
        identity = Centres(site.paths.centres).invite("other", Authority(site.paths.identities))
        sites = Sites(centre.paths.sites)
        sites.add("refused", bootstrap_servers(site), identity)
        try:
            wait_for(lambda: state_of(centre, "refused").state is State.RUNNING)
            # Kafka hides what may not be read.
            assert state_of(centre, "refused").topics == 0
        finally:
            sites.remove("refused")

    def test_its_own_kafka_is_no_site(self, centre: Config) -> None:
        sites = Sites(centre.paths.sites)
        sites.add("self", bootstrap_servers(centre), invite(centre))
        try:
            wait_for(lambda: "own Kafka" in state_of(centre, "self").last_error)
        finally:
            sites.remove("self")

    def test_the_api_and_the_command_tell_the_same(self, centre: Config) -> None:
        wait_for(lambda: state_of(centre).state is State.RUNNING)
        with serve(centre) as node, node.client(node.token()) as client:
            assert client.get("/api/v1/sites").status_code == httpx.codes.OK
            told = {each["name"]: each for each in client.get("/api/v1/sites").json()["items"]}
            metrics = client.get("/metrics").text
        assert told["oslo"]["state"] == "running"
        assert told["away"]["lag_records"] is None
        assert 'catchment_relay_up{part="relay",site="oslo"} 1.0' in metrics
        assert 'catchment_relay_up{part="relay",site="away"} 0.0' in metrics


def relay_of(site: Config, centre: Config, name: str, topic: str) -> SiteRelay:
    """The relay of a site from which only one topic is wanted."""
    only = centre.relay.model_copy(update={"allow": [topic]})
    served = Site(name=name, bootstrap_servers=bootstrap_servers(site))
    return SiteRelay(centre.model_copy(update={"relay": only}), served, invite(site))


def test_a_site_that_is_never_done_does_not_starve_another(site: Config, centre: Config) -> None:
    """Two sites in one process, of which one gets more while the other waits for its turn."""
    relays = []
    for name in ("busy", "calm"):
        create(site, f"plant.{name}")
        relays.append(relay_of(site, centre, name, f"plant.{name}"))
    send(site, "plant.busy", [b"x" * 100] * 100_000)
    for relay in relays:
        relay.start()
    try:
        for number in range(3):
            send(site, "plant.calm", [b"%d" % number])
            while relays[1].report().relayed_records <= number:
                send(site, "plant.busy", [b"x" * 100] * 20_000)
    finally:
        for relay in relays:
            relay.stop()
            relay.join()
    assert values_at(centre, "plant.calm") == [b"0", b"1", b"2"]
    assert relays[0].report().relayed_records > 0


def test_what_was_deleted_before_it_was_relayed_is_named(site: Config, centre: Config) -> None:
    topic = "plant.truncated"
    create(site, topic)
    send(site, topic, [b"0", b"1"])
    with running_part(centre, "relay"):
        wait_for(lambda: values_at(centre, topic) == [b"0", b"1"])
    send(site, topic, [b"2", b"3", b"4"])
    delete_before(site, topic, 4)
    with running_part(centre, "relay"):
        wait_for(lambda: values_at(centre, topic) == [b"0", b"1", b"4"])
        (found,) = incidents_on(centre, topic)
    assert (found.finding, found.first_offset, found.last_offset) == (Finding.TRUNCATED, 2, 3)
    with running_part(centre, "relay"):
        wait_for(lambda: incidents_on(centre, topic) == [found])


def test_a_source_that_lost_its_newest_records_is_read_from_there(
    make_config: MakeConfig, run_broker: RunBroker, centre: Config, tmp_path: Path
) -> None:
    """The disk as after a power cut: what was not on it yet is gone, and its offsets are given again."""
    topic = "plant.set-back"
    bergen = make_config(site="bergen", role="site", relay=RELAY)
    log, before = bergen.paths.kafka / "log" / f"{topic}-0", tmp_path / "before"
    with run_broker(bergen):
        create(bergen, topic)
        send(bergen, topic, [b"a", b"b"])
        shutil.copytree(log, before)
        send(bergen, topic, [b"c", b"d", b"e"])
        Sites(centre.paths.sites).add("bergen", bootstrap_servers(bergen), invite(bergen))
        with running_part(centre, "relay"):
            wait_for(lambda: len(values_at(centre, topic)) == 5)
    shutil.rmtree(log)
    shutil.copytree(before, log)
    with run_broker(bergen):
        after = [b"v", b"w", b"x", b"y", b"z"]
        send(bergen, topic, after)
        with running_part(centre, "relay"):
            wait_for(lambda: values_at(centre, topic)[5:] == after)
            (found,) = state_of(centre, "bergen").incidents
    assert (found.finding, found.first_offset, found.last_offset) == (Finding.SET_BACK, 2, 4)
