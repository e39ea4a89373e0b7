"""Simulated sensors through a real gateway: thousands share a few streams, and all of it is registered."""

import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator

import orjson
import pytest
import yaml

from catchment.config import Config
from catchment.kafka.clients import read_all
from catchment.kafka.parties import Party
from catchment.records import Kind
from catchment.schemas.shipped import register_shipped
from catchment.simulate.sensors import DEVICE, MAPPING, TYPE
from tests.listening import wait_until
from tests.running_node import clean_environment
from tests.running_part import running_part
from tests.serving import ServedNode, serve


@pytest.fixture(scope="module")
def node(cluster: Config) -> Iterator[ServedNode]:
    """A gateway and an API beside the shared broker."""
    with running_part(cluster, "gateway"), serve(cluster, with_tables=True) as served:
        register_shipped(served.app.state.services.schemas)
        cluster.paths.operator_token.write_text(served.token("operator"))
        yield served


def simulate(config: Config, *arguments: str) -> dict[str, float]:
    file = config.data_dir / "simulate.yaml"
    file.write_text(yaml.safe_dump(config.model_dump(mode="json", exclude_none=True)))
    command = [sys.executable, "-m", "catchment", "--config", str(file), "simulate", "sensors", "--json"]
    ended = subprocess.run(
        [*command, *arguments], env=clean_environment(), capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    said: dict[str, float] = orjson.loads(ended.stdout)
    return said


def records(config: Config, prefix: str) -> dict[str, list[bytes]]:
    """What came from the streams whose names begin so, in order."""
    found: dict[str, list[bytes]] = defaultdict(list)
    for message in read_all(config, Party.OPERATOR, Kind.RECORDS.topic):
        stream = (message.key() or b"").decode().partition("/")[2]
        if stream.startswith(prefix):
            found[stream].append(message.value() or b"")
    return found


def arrived(config: Config, prefix: str, count: int) -> dict[str, list[bytes]]:
    wait_until(lambda: sum(map(len, records(config, prefix).values())) >= count, timeout_s=60)
    return records(config, prefix)


def test_thousands_of_sensors_send_in_turn_over_a_few_streams(node: ServedNode) -> None:
    arguments = ("--sensor", "crowd", "--sensors", "2000", "--providers", "3", "--interval", "1000")
    assert simulate(node.config, *arguments, "--count", "4000")["sent"] == 4000
    streams = arrived(node.config, "sensors-crowd-", 4000)
    assert set(streams) == {f"sensors-crowd-{number}" for number in (1, 2, 3)}
    readings = [orjson.loads(line) for lines in streams.values() for line in lines]
    assert set(Counter(each["sensor_id"] for each in readings).values()) <= {1, 2, 3}
    assert len({each["sensor_id"] for each in readings}) == 2000
    for lines in streams.values():
        times = [orjson.loads(line)["timestamp"] for line in lines]
        assert times == sorted(times)


def test_register_makes_sensors_and_a_mapping(node: ServedNode) -> None:
    arguments = ("--sensor", "oven", "--start", "300", "--target", "500", "--unit", "K", "--interval", "10")
    simulate(node.config, *arguments, "--sensors", "3", "--count", "30", "--register")
    with node.client(node.token("simulator")) as client:
        sensor = client.get("/api/v1/sensors/oven-00002").json()
        mapping = client.get(f"/api/v1/mappings/{MAPPING}").json()
    assert (sensor["device_id"], sensor["sensor_type_id"]) == (DEVICE, TYPE)
    assert mapping["sensor"] == {"field": "sensor_id"}
    (lines,) = arrived(node.config, "sensors-oven-", 30).values()
    first = orjson.loads(lines[0])
    assert first["unit"] == "K"
    assert abs(first["temperature"] - 300) < 21


def test_a_gateway_that_is_not_there_is_named(node: ServedNode) -> None:
    with pytest.raises(AssertionError, match="No gateway takes lines at localhost:9"):
        simulate(node.config, "--sensor", "alone", "--count", "1", "--gateway", "localhost:9")
