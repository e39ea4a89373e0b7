"""Simulated devices with objects through a real gateway, with a type and a feed for what they send."""

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator

import orjson
import pytest
import yaml

from catchment.config import Config
from catchment.kafka.clients import read_all
from catchment.kafka.parties import Party
from catchment.records import STAMP_HEADER, Kind, Stamp
from catchment.simulate.twins import FEED, TYPE, Fleet, Messages, simulated_feed, simulated_type
from tests.listening import wait_until
from tests.running_node import clean_environment
from tests.running_part import running_part
from tests.serving import ServedNode, serve

FLEET = Fleet("trial", devices=3, objects=20, interval_ms=50, seed=7)
COUNT = 20


@pytest.fixture(scope="module")
def node(cluster: Config) -> Iterator[ServedNode]:
    """A gateway and an API beside the shared broker."""
    with running_part(cluster, "gateway"), serve(cluster, with_tables=True) as served:
        cluster.paths.operator_token.write_text(served.token("operator"))
        yield served


def simulate(config: Config, *arguments: object) -> dict[str, float]:
    file = config.data_dir / "simulate.yaml"
    file.write_text(yaml.safe_dump(config.model_dump(mode="json", exclude_none=True)))
    command = [sys.executable, "-m", "catchment", "--config", str(file), "simulate", "twins", "--json"]
    ended = subprocess.run(
        [*command, *map(str, arguments)],
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    said: dict[str, float] = orjson.loads(ended.stdout)
    return said


def records(config: Config) -> dict[str, list[tuple[int, bytes]]]:
    """What came from the fleet: number and message, by stream."""
    found: dict[str, list[tuple[int, bytes]]] = defaultdict(list)
    for message in read_all(config, Party.OPERATOR, Kind.RECORDS.topic):
        if (message.key() or b"").decode().partition("/")[2].startswith("twins-trial-"):
            header = dict(message.headers() or [])[STAMP_HEADER]
            assert isinstance(header, bytes)
            stamp = Stamp.decode(header)
            found[stamp.source.stream].append((stamp.sequence, message.value() or b""))
    return found


def test_every_message_arrives_from_its_device_in_order_and_its_type_is_declared(node: ServedNode) -> None:
    fleet = ("--name", FLEET.name, "--devices", FLEET.devices, "--objects", FLEET.objects)
    pace = ("--interval-ms", FLEET.interval_ms, "--count", COUNT, "--seed", FLEET.seed)
    assert simulate(node.config, *fleet, *pace, "--declare")["sent"] == COUNT
    wait_until(lambda: sum(map(len, records(node.config).values())) >= COUNT, timeout_s=30)
    expected = {
        FLEET.stream(device): list(
            enumerate(Messages(FLEET, device, 0).lines(1, FLEET.share(device, COUNT)).splitlines(), 1)
        )
        for device in range(FLEET.devices)
    }
    assert records(node.config) == expected
    with node.client(node.token("simulator")) as client:
        declared = client.get(f"/api/v1/twin-types/{TYPE}").json()
        feed = client.get(f"/api/v1/twin-feeds/{FEED}").json()
    assert simulated_type().model_dump(mode="json").items() <= declared.items()
    assert simulated_feed().model_dump(mode="json").items() <= feed.items()
