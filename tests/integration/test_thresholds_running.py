"""Rules on the running stream: as the model says across kills, and changed while it runs."""

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from catchment.alerts.rules import Rule
from catchment.config import Config
from catchment.kafka.clients import producer, read_all
from catchment.kafka.parties import Party
from catchment.records import Kind, Source
from tests import watching
from tests.running_part import running_part
from tests.thresholds_model import Change, Model, Reading

WAIT_S = 200.0
NODE = "watched"
SOURCE = Source(NODE, "gate", 1, "lab")
SENSORS = [f"kiln-{number}" for number in range(8)]
RULES: dict[str, dict[str, Any]] = {
    "kiln-hot": {"above": 80.0, "hysteresis": 1.0, "unit": "C", "lasting_every_s": 5},
    "kiln-cold": {"below": 75.0, "unit": "C", "min_duration_s": 2},
    "kiln-fahrenheit": {"above": 178.0, "unit": "F", "hysteresis": 2.0},
}

Events = dict[tuple[str, str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def config(cluster: Config) -> Config:
    """With several tasks, as on a large machine: most tests have one."""
    tasks = {"source_tasks": 2, "shuffle_partitions": 3}
    settings = cluster.pipeline.model_copy(
        update={"checkpoint_interval_s": 5, "restart_backoff_max_s": 2, "queries": ["thresholds"], **tasks}
    )
    return cluster.model_copy(update={"pipeline": settings})


@pytest.fixture(scope="module")
def readings() -> dict[str, list[Reading]]:
    """A walk of temperatures for every sensor; some readings are late, some come again."""
    chance = random.Random(11)
    return {sensor: list(walk(chance)) for sensor in SENSORS}


@pytest.fixture(scope="module")
def restarted(config: Config, readings: dict[str, list[Reading]]) -> Iterator[None]:
    """A pipeline that was killed while readings came, and runs again."""
    declare(config, *(watching.rule(NODE, name, select=KILNS, **values) for name, values in RULES.items()))
    write(config, Party.API, *watching.schema_entry(NODE))
    with running_part(config, "pipeline"):
        for sensor, those in readings.items():
            measure(config, sensor, those[:50])
        wait_for(lambda: any(key[0] in SENSORS for key in events(config)))
        # Beyond the last checkpoint, and not yet told in part: the kill comes at once.
        for sensor, those in readings.items():
            measure(config, sensor, those[50:100])
    with running_part(config, "pipeline"):
        yield


KILNS = {"sensor": "kiln-*", "site": NODE}


def walk(chance: random.Random) -> Iterator[Reading]:
    value = 78.0
    for number in range(1, 151):
        value += chance.choice([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0])
        value = min(max(value, 70.0), 86.0)
        origin_ms = number * 1000
        timestamp = origin_ms - chance.choice([0] * 9 + [2500])
        reading = Reading("lab", number, origin_ms, timestamp, value, "C")
        yield from [reading] * chance.choice([1] * 9 + [2])


def write(config: Config, party: Party, kind: Kind, key: bytes, value: bytes | None) -> None:
    writer = producer(config, party)
    writer.produce(kind.topic, value, key)
    assert writer.flush(WAIT_S) == 0


def declare(config: Config, *rules: Rule) -> None:
    for rule in rules:
        write(config, Party.API, Kind.RULES, rule.key.encode(), rule.model_dump_json().encode())


def measure(config: Config, sensor: str, those: list[Reading]) -> None:
    writer = producer(config, Party.PIPELINE)
    for each in those:
        value = watching.temperature(sensor, each.timestamp, each.temperature, each.unit)
        headers = [watching.stamp(SOURCE, each.sequence, each.origin_ms)]
        writer.produce(Kind.MEASUREMENTS.topic, value, f"{NODE}/{sensor}", headers=headers)
    assert writer.flush(WAIT_S) == 0


def events(config: Config) -> Events:
    """The events of this test's node by sensor and rule, without those that came again."""
    found: Events = defaultdict(list)
    for message in read_all(config, Party.OPERATOR, Kind.EVENTS.topic):
        if not (message.key() or b"").startswith(f"{NODE}/".encode()):
            continue
        event = watching.event(message.value() or b"")
        earlier = found[event["sensor_id"], event["rule"]]
        if event["sequence"] > len(earlier):
            assert event["sequence"] == len(earlier) + 1
            earlier.append(event)
    return dict(found)


def phases(config: Config, sensor: str, rule: str) -> list[tuple[str, int]]:
    return [(each["phase"], each["rule_version"]) for each in events(config).get((sensor, rule), [])]


def wait_for(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.5)


def told_at_least(config: Config, expected: Events) -> bool:
    told = events(config)
    return all(len(told.get(key, [])) >= len(wanted) for key, wanted in expected.items())


def modelled(sensor: str, those: list[Reading]) -> Events:
    model = Model()
    for name, values in RULES.items():
        model.take(Change(name, watching.rule(NODE, name, select=KILNS, **values)))
    for each in those:
        model.take(each)
    told: Events = defaultdict(list)
    for event in model.told:
        told[sensor, event["rule"]].append(event)
    return told


@pytest.mark.usefixtures("restarted")
class TestRunning:
    def test_events_are_those_of_the_model_when_the_pipeline_is_killed_in_between(
        self, config: Config, readings: dict[str, list[Reading]]
    ) -> None:
        expected: Events = {}
        for sensor, those in readings.items():
            measure(config, sensor, those[100:])
            expected.update(modelled(sensor, those))
        wait_for(lambda: told_at_least(config, expected))
        told = events(config)
        for key, wanted in expected.items():
            assert [{name: event[name] for name in wanted[0]} for event in told[key]] == wanted, key

    def test_a_rule_that_changes_ends_what_is_under_way_and_leaves_the_others_alone(
        self, config: Config
    ) -> None:
        select = {"sensor": "oven", "site": NODE}
        rules = [watching.rule(NODE, name, select=select) for name in ("oven-changed", "oven-kept")]
        declare(config, *rules)
        sequence = 0

        def hot_until(reached: Callable[[], bool]) -> None:
            def measured_once_more() -> bool:
                nonlocal sequence
                sequence += 1
                measure(
                    config, "oven", [Reading("lab", sequence, sequence * 1000, sequence * 1000, 90.0, "C")]
                )
                return reached()

            wait_for(measured_once_more)

        changed, kept = (("oven", rule.id) for rule in rules)
        hot_until(lambda: bool(phases(config, *changed) and phases(config, *kept)))
        declare(config, rules[0].model_copy(update={"version": 2, "above": 85.0}))
        # Without a reading: whoever was told of the start is told of the end.
        wait_for(lambda: phases(config, *changed) == [("START", 1), ("END", 1)])
        hot_until(lambda: phases(config, *changed)[2:] == [("START", 2)])
        declare(config, rules[0].model_copy(update={"version": 3, "enabled": False}))
        wait_for(lambda: phases(config, *changed)[3:] == [("END", 2)])
        write(config, Party.API, Kind.RULES, rules[1].key.encode(), None)
        wait_for(lambda: phases(config, *kept) == [("START", 1), ("END", 1)])
