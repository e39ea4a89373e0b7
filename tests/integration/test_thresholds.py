"""The threshold operator against a plain model of what rules mean, in small batches."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import count, islice, product
from typing import Any

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import Row, SparkSession

from catchment.alerts.rules import Rule
from catchment.pipeline.control import Declarations, shard_of
from catchment.pipeline.thresholds import Told, thresholds
from catchment.records import REASON_HEADER, TOPIC_HEADER, Kind, Source
from catchment.schemas.schema import parse
from tests import watching
from tests.thresholds_model import Change, Model, Reading

SCHEMA = (
    "topic string, partition int, offset bigint, key binary, value binary, "
    "headers array<struct<key: string, value: binary>>"
)
NODE = "model"
NOTHING_TOLD = Told(NODE)
SOURCES = {name: Source(NODE, "gate", epoch, "lab") for epoch, name in enumerate(("first", "second"))}

Steps = list[Reading | Change]
Entry = tuple[Kind, bytes, bytes | None]


class Topics:
    """Rows as they stand on Kafka, in the order in which an operator sees them."""

    def __init__(self) -> None:
        self.rows: list[tuple[object, ...]] = []
        self.declare(watching.schema_entry(NODE))

    def declare(self, *entries: Entry) -> None:
        for kind, key, value in entries:
            self.rows.append((kind.topic, 0, len(self.rows), key, value, []))

    def declare_rule(self, key: str, rule: Rule | None) -> None:
        self.declare(
            (Kind.RULES, f"{NODE}/{key}".encode(), rule.model_dump_json().encode() if rule else None)
        )

    def measure(self, sensor: str, reading: Reading) -> None:
        value = watching.temperature(sensor, reading.timestamp, reading.temperature, reading.unit)
        headers = [watching.stamp(SOURCES[reading.source], reading.sequence, reading.origin_ms)]
        self.add(f"{NODE}/{sensor}".encode(), value, headers)

    def add(self, key: bytes | None, value: bytes | None, headers: object) -> None:
        self.rows.append((Kind.MEASUREMENTS.topic, 0, len(self.rows), key, value, headers))

    def results(self, spark: SparkSession, told: Told = NOTHING_TOLD) -> list[Row]:
        # One partition: the order of rows is part of what is tested.
        frame = spark.createDataFrame(self.rows, SCHEMA).coalesce(1)
        return thresholds(frame, Declarations(), told).collect()

    def events(self, spark: SparkSession) -> dict[str, list[dict[str, Any]]]:
        """The events of every sensor."""
        found: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in self.results(spark):
            if reason_of(row).startswith("unjudged: "):
                continue
            assert row.topic == Kind.EVENTS.topic, row
            event = watching.event(bytes(row.value))
            assert bytes(row.key) == f"{event['site']}/{event['sensor_id']}".encode()
            found[event["sensor_id"]].append(event)
        return found


def reason_of(row: Row) -> str:
    """Why a row is a dead letter; empty if it is none."""
    return next((bytes(each.value).decode() for each in row.headers if each.key == REASON_HEADER), "")


@dataclass(frozen=True)
class Move:
    """How a reading differs from the one before: most come in order, some late, some again."""

    source: str
    number_step: int
    offset_ms: int
    temperature: float
    unit: str


# Few values, so that limits are hit exactly. Drawn as a whole, which is quick.
MOVES = [
    Move(*each)
    for each in product(
        sorted(SOURCES),
        (1, 1, 1, 2, 0, -2),
        (0, 0, 0, 0, -1000, -3500, 2500),
        (77.0, 78.5, 79.0, 80.0, 81.0, 83.0, 85.5),
        "C",
    )
] + [Move(*each) for each in product(SOURCES, (1,), (0, -2000), (174.2, 176.0, 178.0), "F")]
CHANGES = [
    (
        name,
        {**side, "hysteresis": hysteresis, "unit": unit, "min_duration_s": least, "lasting_every_s": every},
    )
    for name, side, hysteresis, unit, least, every in product(
        ("one", "two"),
        ({"above": 80.0}, {"below": 80.0}, {"above": 79.5, "enabled": False}),
        (0.0, 1.0),
        ("C", "C", "F", None, "bar"),
        (0, 0, 3),
        (0, 2),
    )
]
removals: list[tuple[str, None]] = [("one", None), ("two", None)]
moves = st.sampled_from(MOVES)
steps = st.tuples(
    st.sampled_from(CHANGES),
    st.lists(moves, min_size=5, max_size=30),
    st.lists(st.one_of(moves, moves, moves, moves, moves, st.sampled_from(CHANGES + removals)), max_size=20),
).map(lambda parts: [parts[0], *parts[1], *parts[2]])


def concrete(case: int, drawn: list[Any]) -> Steps:
    """Moves become readings, and changes rules about the case's own sensor, with versions that rise."""
    done: Steps = []
    numbers = dict.fromkeys(SOURCES, 0)
    for number, step in enumerate(drawn, 1):
        if isinstance(step, Move):
            numbers[step.source] = max(1, numbers[step.source] + step.number_step)
            origin_ms = number * 1000
            timestamp = origin_ms + step.offset_ms
            place = (step.source, numbers[step.source], origin_ms, timestamp)
            done.append(Reading(*place, step.temperature, step.unit))
        else:
            name, values = f"{step[0]}-{case}", step[1]
            select = {"sensor": f"s{case}"}
            done.append(Change(name, values and watching.rule(NODE, name, number, select=select, **values)))
    return done


@given(st.lists(steps, min_size=20, max_size=60))
@settings(max_examples=4, suppress_health_check=list(HealthCheck), deadline=None)
def test_the_operator_is_the_model(spark: SparkSession, cases: list[list[Any]]) -> None:
    topics, expected = Topics(), {}
    for case, drawn in enumerate(cases):
        model = Model()
        for step in concrete(case, drawn):
            model.take(step)
            if isinstance(step, Reading):
                topics.measure(f"s{case}", step)
            else:
                topics.declare_rule(step.id, step.rule)
        if model.told:
            expected[f"s{case}"] = model.told
    told = topics.events(spark)
    assert told.keys() == expected.keys()
    for sensor, events in expected.items():
        assert [{name: event[name] for name in events[0]} for event in told[sensor]] == events


def lab(value: float, at_s: int, unit: str = "C") -> Reading:
    """The reading of a second, in order and from one source."""
    return Reading("first", at_s, at_s * 1000, at_s * 1000, value, unit)


def test_a_rule_is_about_the_sensors_that_it_selects(spark: SparkSession) -> None:
    topics = Topics()
    selections = {
        "by-sensor": {"sensor": "oven-?"},
        "by-type": {"sensor_type": "thermo*"},
        "by-device": {"device": "press-7", "site": NODE},
        "elsewhere": {"site": "another"},
    }
    for name, select in selections.items():
        topics.declare_rule(name, watching.rule(NODE, name, select=select))
    registered = {"id": "oven-1", "site": NODE, "device_id": "press-7", "sensor_type_id": "thermocouple"}
    topics.declare((Kind.SENSORS, f"{NODE}/oven-1".encode(), orjson.dumps(registered)))
    for sensor in ("oven-1", "oven-2", "oven-33"):
        topics.measure(sensor, lab(90, 1))
    told = topics.events(spark)
    assert {sensor: sorted(event["rule"] for event in events) for sensor, events in told.items()} == {
        "oven-1": ["by-device", "by-sensor", "by-type"],
        "oven-2": ["by-sensor"],
    }


def test_more_sensors_than_a_shard_holds_in_memory_are_judged_all_the_same(spark: SparkSession) -> None:
    held = spark._jvm.catchment.control.InUse.LIMIT  # type: ignore[union-attr]
    names = (f"s{number}" for number in count())
    sensors = list(islice((name for name in names if shard_of(f"{NODE}/{name}".encode()) == 0), held + 100))
    topics = Topics()
    topics.declare_rule("hot", watching.rule(NODE, "hot"))
    for at_s, value in enumerate((90, 70), 1):
        for sensor in sensors:
            topics.measure(sensor, lab(value, at_s))
    told = topics.events(spark)
    assert set(told) == set(sensors)
    phases = [("START", 1000, 1), ("END", 2000, 2)]
    for events in told.values():
        assert [(each["phase"], each["timestamp"], each["sequence"]) for each in events] == phases


def test_a_sensor_that_is_registered_anew_is_not_watched_any_more(spark: SparkSession) -> None:
    topics = Topics()
    topics.declare_rule("typed", watching.rule(NODE, "typed", select={"sensor_type": "thermocouple"}))
    for sensor_type, at_s in (("thermocouple", 1), ("other", 2)):
        entry = {"id": "moved", "site": NODE, "device_id": "d", "sensor_type_id": sensor_type}
        topics.declare((Kind.SENSORS, f"{NODE}/moved".encode(), orjson.dumps(entry)))
        topics.measure("moved", lab(90, at_s))
    events = topics.events(spark)["moved"]
    assert [(event["phase"], event["timestamp"]) for event in events] == [("START", 1000), ("END", 1000)]


def test_the_unit_of_a_reading_that_has_none_is_that_of_its_type(spark: SparkSession) -> None:
    topics, schema = Topics(), parse(WITHOUT_UNIT)
    entry = {"site": NODE, "subject": "Plain", "version": 1, "id": schema.id, "schema": schema.text}
    kind = {"id": "fahrenheit", "site": NODE, "unit": "F"}
    sensor = {"id": "old", "site": NODE, "device_id": "d", "sensor_type_id": "fahrenheit"}
    topics.declare(
        (Kind.SCHEMAS, f"{NODE}/Plain/1".encode(), orjson.dumps(entry)),
        (Kind.SENSOR_TYPES, f"{NODE}/fahrenheit".encode(), orjson.dumps(kind)),
        (Kind.SENSORS, f"{NODE}/old".encode(), orjson.dumps(sensor)),
    )
    topics.declare_rule("hot", watching.rule(NODE, "hot", unit="C", above=100.0))
    for name in ("old", "nobody-knows"):
        fields = {"sensor_id": name, "timestamp": 1000, "temperature": 230.0}
        value = watching.wire(schema.text, schema.id, fields)
        topics.add(f"{NODE}/{name}".encode(), value, [watching.stamp(SOURCES["first"], 1, 1000)])
    told = topics.events(spark)
    assert told["old"][0]["latest"] == (230.0 - 32) * 5 / 9
    assert told["nobody-knows"][0]["latest"] == 230.0
    assert told["old"][0]["subject"] == "Plain"


def test_what_cannot_be_read_is_a_dead_letter_if_a_rule_is_about_it(spark: SparkSession) -> None:
    topics, good = Topics(), watching.temperature("bad", 1000, 90)
    topics.declare_rule("bad", watching.rule(NODE, "bad", select={"sensor": "bad"}))
    stamped = [watching.stamp(SOURCES["first"], 1, 1000)]
    key = f"{NODE}/bad".encode()
    topics.add(key, None, stamped)
    topics.add(key, b"{}", stamped)
    topics.add(key, good[:-3], stamped)
    topics.add(key, good + b"more", stamped)
    topics.add(key, good, [])
    topics.add(b"no slash", good, stamped)
    topics.add(f"{NODE}/of-no-rule".encode(), b"{}", stamped)
    letters = topics.results(spark)
    assert {letter.topic for letter in letters} == {Kind.DEADLETTER.topic}
    assert [letter.value and bytes(letter.value) for letter in letters if bytes(letter.key) == key] == [
        row[4] for row in topics.rows if row[3] == key and row[0] == Kind.MEASUREMENTS.topic
    ]
    headers = [{header.key: bytes(header.value) for header in letter.headers} for letter in letters]
    assert len(headers) == 6
    assert all(each[REASON_HEADER].startswith(b"undecodable: ") for each in headers)
    assert all(each[TOPIC_HEADER] == Kind.MEASUREMENTS.topic.encode() for each in headers)


def test_a_unit_that_a_rule_cannot_convert_is_told_once_for_each_sensor_and_version(
    spark: SparkSession,
) -> None:
    topics = Topics()
    topics.declare_rule("pressed", watching.rule(NODE, "pressed", unit="bar", select={"sensor": "odd-*"}))
    # About a field that these readings do not have.
    topics.declare_rule("humid", watching.rule(NODE, "humid", unit="%", field="humidity"))
    for at_s in (1, 2, 3):
        topics.measure("odd-1", lab(90, at_s))
        topics.measure("odd-2", lab(90, at_s, unit="F"))
        topics.measure("even", lab(90, at_s))
    topics.declare_rule(
        "pressed", watching.rule(NODE, "pressed", version=2, unit="bar", select={"sensor": "odd-1"})
    )
    for at_s in (4, 5):
        topics.measure("odd-1", lab(90, at_s))
    letters = topics.results(spark)
    assert {letter.topic for letter in letters} == {Kind.DEADLETTER.topic}
    assert sorted((bytes(letter.key), reason_of(letter)) for letter in letters) == [
        (b"model/odd-1", "unjudged: the rule model/pressed is in bar, and the sensor's readings are in C"),
        (b"model/odd-1", "unjudged: the rule model/pressed is in bar, and the sensor's readings are in C"),
        (b"model/odd-2", "unjudged: the rule model/pressed is in bar, and the sensor's readings are in F"),
    ]


def test_a_measurement_that_overtook_its_schema_waits_for_it(spark: SparkSession) -> None:
    topics, schema = Topics(), parse(WITHOUT_UNIT)
    topics.declare_rule("hot", watching.rule(NODE, "hot"))
    entry = {"site": NODE, "subject": "Plain", "version": 1, "id": schema.id, "schema": schema.text}
    declaration = (Kind.SCHEMAS, f"{NODE}/Plain/1".encode(), orjson.dumps(entry))

    def measure(at_s: int, schema_id: int) -> None:
        fields = {"sensor_id": "early", "timestamp": at_s * 1000, "temperature": 90.0}
        value = watching.wire(schema.text, schema_id, fields)
        topics.add(f"{NODE}/early".encode(), value, [watching.stamp(SOURCES["first"], at_s, at_s * 1000)])

    measure(1, 4711)
    measure(2, schema.id)
    topics.declare(declaration)
    # A minute after the first that nobody has a schema for, another one.
    measure(61, 4711)
    event, letter = sorted(topics.results(spark), key=lambda row: str(row.topic), reverse=True)
    assert watching.event(bytes(event.value))["timestamp"] == 2000
    assert letter.topic == Kind.DEADLETTER.topic
    assert ("undecodable: its schema is not known") in [
        bytes(each.value).decode() for each in letter.headers[1:]
    ]


def test_what_was_told_under_a_rule_that_changed_comes_to_its_end(spark: SparkSession) -> None:
    """A query lost the state in which it told of a start, and finds another rule when it starts again."""
    before = Topics()
    before.declare_rule("hot", watching.rule(NODE, "hot", version=1, lasting_every_s=1))
    for at_s in (1, 2):
        before.measure("lost", lab(90, at_s))
    told = Told(NODE, tuple((bytes(row.key), bytes(row.value)) for row in before.results(spark)))
    after = Topics()
    after.declare_rule("hot", watching.rule(NODE, "hot", version=2, above=85.0))
    for at_s in (1, 2, 3):
        after.measure("lost", lab(90, at_s))
    events = [watching.event(bytes(row.value)) for row in after.results(spark, told)]
    assert [(event["sequence"], event["phase"], event["rule_version"]) for event in events] == [
        (3, "END", 1),
        (4, "START", 2),
    ]
    assert (events[0]["first_ms"], events[0]["last_ms"], events[0]["count"]) == (1000, 2000, 2)


WITHOUT_UNIT = """{"type": "record", "name": "Plain", "fields": [{"name": "sensor_id", "type": "string"},
  {"name": "timestamp", "type": "long"}, {"name": "temperature", "type": "double"}]}"""
