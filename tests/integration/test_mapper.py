"""The mapper against a plain model: random schemas, mappings and messages."""

import json
import math
import struct
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import ROUND_FLOOR, Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tests.measuring import field, mapping_entry, read_wire, schema_entry, schema_text, wire

SITE = "oslo"
STREAM = "press-4"
ORIGIN_US = 1_700_000_000_123_999
FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999

UNIT = {"type": "enum", "name": "Unit", "symbols": ["C", "F", "K"]}
PLACE = {
    "type": "record",
    "name": "Place",
    "fields": [field("hall", "string"), field("row", "int", default=7)],
}
TYPES: list[Any] = [
    "boolean", "int", "long", "float", "double", "string", UNIT, PLACE,
    ["null", "double"], ["null", "string"], ["string", "long", "double"], ["null", "boolean"],
    {"type": "array", "items": "long"}, {"type": "map", "values": "double"},
]  # fmt: skip


class RefusedError(Exception):
    """The model's word for a message that is no measurement."""


MISSING = object()


def take(kind: Any, value: Any) -> Any:
    """What an Avro type makes of a JSON value."""
    if isinstance(kind, list):
        return take_first(kind, value)
    name = kind["type"] if isinstance(kind, dict) else kind
    if name in ("array", "map", "record"):
        return take_nested(kind, value)
    return take_scalar(name, kind, value)


def take_first(branches: list[Any], value: Any) -> Any:
    for branch in branches:
        try:
            return take(branch, value)
        except RefusedError:
            continue
    raise RefusedError


def take_nested(kind: dict[str, Any], value: Any) -> Any:
    if kind["type"] == "array" and isinstance(value, list):
        return [take(kind["items"], each) for each in value]
    if kind["type"] == "map" and isinstance(value, dict):
        return {name: take(kind["values"], each) for name, each in value.items()}
    if kind["type"] == "record" and isinstance(value, dict):
        return {each["name"]: take_field(each, value.get(each["name"], MISSING)) for each in kind["fields"]}
    raise RefusedError


def take_scalar(name: str, kind: Any, value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    bounds = {"int": 31, "long": 63}
    if name == "null" and value is None:
        return None
    if name == "boolean" and isinstance(value, bool):
        return value
    is_whole = is_number and value == math.floor(value)
    if name in bounds and is_whole and -(2 ** bounds[name]) <= value < 2 ** bounds[name]:
        return int(value)
    if name == "double" and is_number:
        return float(value)
    if name == "float" and is_number and abs(value) <= 3.4028234663852886e38:
        return struct.unpack("f", struct.pack("f", value))[0]
    if name == "string" and isinstance(value, str):
        return value
    if name == "enum" and value in kind["symbols"]:
        return value
    raise RefusedError


def take_field(declared: dict[str, Any], value: Any) -> Any:
    if value is not MISSING:
        try:
            return take(declared["type"], value)
        except RefusedError:
            raise RefusedError(declared["name"]) from None
    if "default" in declared:
        return declared["default"]
    if isinstance(declared["type"], list) and "null" in declared["type"]:
        return None
    raise RefusedError(declared["name"])


def time_ms(value: Any, unit: str) -> int:
    if unit == "iso8601":
        return ms_of_text(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RefusedError
    scale = {"ms": Decimal(1), "s": Decimal(1000), "us": Decimal("0.001")}[unit]
    ms = int((Decimal(repr(value)) * scale).to_integral_value(ROUND_FLOOR))
    if not FIRST_MS <= ms <= LAST_MS:
        raise RefusedError
    return ms


def ms_of_text(value: Any) -> int:
    if not isinstance(value, str) or "T" not in value:
        raise RefusedError
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        raise RefusedError from None
    since = (time if time.tzinfo else time.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000


def at(message: Any, path: str) -> Any:
    for step in path.split("."):
        message = message.get(step, MISSING) if isinstance(message, dict) else MISSING
    return message


def expected(spec: dict[str, Any], fields: list[dict[str, Any]], message: Any) -> dict[str, Any]:
    """What a mapping means, said in the plainest way."""
    if not isinstance(message, dict):
        raise RefusedError
    record: dict[str, Any] = {"sensor_id": STREAM, "timestamp": ORIGIN_US // 1000}
    if spec["timestamp"]:
        record["timestamp"] = time_ms(at(message, spec["timestamp"]["field"]), spec["timestamp"]["unit"])
    for each in fields:
        how = spec["fields"].get(each["name"], each["name"])
        record[each["name"]] = take_field(each, how["const"] if isinstance(how, dict) else at(message, how))
    return record


numbers = (
    st.integers(-(2**70), 2**70)
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-40, 40).map(float)
)
texts = st.text(st.characters(codec="utf-8"), max_size=5) | st.sampled_from(["C", "F", "K"])
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["hall", "row", "a", "b"]), inner, max_size=3)
    ),
    max_leaves=6,
)
times = (
    st.datetimes(timezones=st.none() | st.just(UTC)).map(lambda time: time.isoformat())
    | st.integers(-(2**60), 2**60)
    | st.floats(-1e12, 1e12)
    | st.sampled_from(["", "yesterday", "2026-01-31", "2026-02-30T00:00:00Z", None, True])
)
DEFAULTS: dict[str, Any] = {"double": 1.5, "long": 3, "string": "none", "boolean": True}


@dataclass(frozen=True)
class Case:
    """A schema, a mapping and a message."""

    fields: list[dict[str, Any]]
    spec: dict[str, Any]
    message: Any


@st.composite
def cases(draw: st.DrawFn) -> Case:
    # Each type at most once: one with a name may stand in a schema only once.
    kinds = draw(st.lists(st.sampled_from(range(len(TYPES))), min_size=1, max_size=3, unique=True))
    fields: list[dict[str, Any]] = []
    how: dict[str, Any] = {}
    message: dict[str, Any] = {}
    for kind in (TYPES[number] for number in kinds):
        name = f"f{len(fields)}"
        has_default = isinstance(kind, str) and kind in DEFAULTS and draw(st.booleans())
        fields.append(field(name, kind, **({"default": DEFAULTS[kind]} if has_default else {})))
        way = draw(st.sampled_from(["same", "same", "path", "const", "missing"]))
        value = draw(st.just(fitting(kind)) | values)
        if way == "path":
            how[name] = f"in-{name}.deep"
            message[f"in-{name}"] = {"deep": value}
        elif way == "const" and not isinstance(value, dict | list):
            how[name] = {"const": value}
        elif way == "same":
            message[name] = value
    spec: dict[str, Any] = {"streams": "press-*", "subject": "Drawn", "fields": how, "timestamp": None}
    if draw(st.booleans()):
        spec["timestamp"] = {"field": "at", "unit": draw(st.sampled_from(["ms", "s", "us", "iso8601"]))}
        message["at"] = draw(times)
    return Case(fields, spec, message)


def fitting(kind: Any) -> Any:
    """A value that a type takes for certain."""
    plain = {"boolean": True, "int": 4, "long": 5.0, "float": 0.25, "double": 2, "string": "x"}
    if isinstance(kind, list):
        return fitting(kind[-1])
    if isinstance(kind, str):
        return plain[kind]
    return {"enum": "F", "record": {"hall": "2"}, "array": [1, 2], "map": {"a": 1}}[kind["type"]]


class JavaMapper:
    """The mapper with one schema, as the operator uses it."""

    def __init__(self, spark: SparkSession, schema: str, **spec: Any) -> None:
        assert spark._jvm
        java = spark._jvm.catchment.measurements
        reader = spark._jvm.com.fasterxml.jackson.databind.ObjectMapper()
        subjects = java.Subjects()
        entry = schema_entry(spec["subject"], schema, site=SITE, number=4_000_000)
        subjects.learn("key", reader.readTree(entry.value))
        self._mapping = java.Mapping(reader.readTree(mapping_entry("drawn", site=SITE, **spec).value))
        self._mapper = java.Mapper(subjects)

    def attempt(self, message: bytes) -> bytes | str:
        """The measurement, or the reason why there is none."""
        try:
            return bytes(self._mapper.map(self._mapping, STREAM, ORIGIN_US, message).wire())
        except Py4JJavaError as error:
            thrown = error.java_exception
        assert thrown.getClass().getSimpleName() == "Unmappable"
        return str(thrown.getMessage())

    def map(self, message: bytes) -> bytes:
        measurement = self.attempt(message)
        assert isinstance(measurement, bytes), measurement
        return measurement

    def refusal(self, message: bytes) -> str:
        reason = self.attempt(message)
        assert isinstance(reason, str)
        return reason


def expected_or_where(case: Case) -> dict[str, Any] | str:
    try:
        return expected(case.spec, case.fields, case.message)
    except RefusedError as refused:
        return str(refused)


@given(cases())
@settings(max_examples=300, suppress_health_check=list(HealthCheck), deadline=None)
def test_the_mapper_is_the_model(spark: SparkSession, case: Case) -> None:
    schema = schema_text("Drawn", *case.fields)
    mapper = JavaMapper(spark, schema, **case.spec)
    message = json.dumps(case.message, allow_nan=False).encode()
    record_or_where = expected_or_where(case)
    if isinstance(record_or_where, str):
        reason = mapper.refusal(message)
        assert reason.startswith("mapping drawn: ")
        assert record_or_where in reason
    else:
        assert read_wire(mapper.map(message), schema) == (4_000_000, record_or_where)


TEMPERATURE = schema_text("Temperature", field("temperature", "double"), field("unit", UNIT, default="C"))


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"no json", "the message is no JSON: "),
        (b"{} {}", "the message is no JSON: "),
        (b"", "the message is no JSON object"),
        (b"[1]", "the message is no JSON object"),
        (b"\xff\xfe", "the message is no JSON: "),
        (b"{}", "member id is missing"),
        (b'{"id": 1.5}', "member id: 1.5 is no id of a sensor"),
        (b'{"id": "a b"}', 'member id: "a b" is no id of a sensor'),
        (b'{"id": "a"}', "member when.at is missing"),
        (b'{"id": "a", "when": {"at": "now"}}', 'member when.at: "now" is not a number'),
        (b'{"id": "a", "when": {"at": 1e999}}', "member when.at: "),
        (b'{"id": "a", "when": {"at": 1e15}}', "member when.at: 1.0E15 s is not in the years 1 to 9999"),
        (b'{"id": "a", "when": {"at": 1}}', "field temperature: is missing"),
        (b'{"id": "a", "when": {"at": 1}, "temperature": null}', "field temperature: null is not a number"),
        (b'{"id": "a", "when": {"at": 1}, "temperature": 1e999}', "field temperature: "),
        (b'{"id": "a", "when": {"at": 1}, "temperature": 1, "unit": "X"}', 'field unit: "X" is not one of'),
        (b"[" * 100_000, "the message is no JSON: "),
    ],
)
def test_a_refusal_says_what_is_wrong_and_where(spark: SparkSession, message: bytes, reason: str) -> None:
    spec: dict[str, Any] = {"sensor": {"field": "id"}, "timestamp": {"field": "when.at", "unit": "s"}}
    mapper = JavaMapper(spark, TEMPERATURE, streams="*", subject="Temperature", **spec)
    assert f"mapping drawn: {reason}" in mapper.refusal(message)


@pytest.mark.parametrize(("sensor", "expected_id"), [({"fixed": "s-1"}, "s-1"), ({"field": "nr"}, "17")])
def test_where_the_id_of_a_sensor_comes_from(
    spark: SparkSession, sensor: dict[str, Any], expected_id: str
) -> None:
    mapper = JavaMapper(spark, TEMPERATURE, streams="*", subject="Temperature", sensor=sensor)
    _, record = read_wire(mapper.map(b'{"temperature": 3, "nr": 17}'), TEMPERATURE)
    assert record["sensor_id"] == expected_id
    assert record["unit"] == "C"


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ('"string"', "is no record"),
        ("{", "cannot be read: "),
        (schema_text("Empty"), "has no field for what is measured"),
        ('{"type": "record", "name": "A", "fields": []}', "lacks the field sensor_id of type string"),
    ],
)
def test_a_schema_that_is_not_of_measurements_is_named(spark: SparkSession, schema: str, reason: str) -> None:
    mapper = JavaMapper(spark, schema, streams="*", subject="Odd")
    assert f"version 1 of subject Odd {reason}" in mapper.refusal(b"{}")


READING = {"sensor_id": "oven", "timestamp": 17, "temperature": 5.5, "unit": "K"}
GOOD = wire(4_000_000, TEMPERATURE, READING)


def test_a_device_that_writes_avro_is_taken_at_its_word(spark: SparkSession) -> None:
    mapper = JavaMapper(spark, TEMPERATURE, streams="*", subject="Temperature", format="avro")
    assert mapper.map(GOOD) == GOOD


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"", "not in Confluent's wire format"),
        (b"\x01" + GOOD[1:], "not in Confluent's wire format"),
        (wire(7, TEMPERATURE, READING), "no schema of subject Temperature has the id 7"),
        (GOOD[:-1], "does not fit its schema"),
        (GOOD + b"\0", "longer than its schema says"),
        (GOOD[:5] + b"\xff" * 20, "does not fit its schema"),
        (GOOD[:5] + b"\xfe\xff\xff\xff\x0f" + GOOD[6:], "does not fit its schema"),
        (wire(4_000_000, TEMPERATURE, {**READING, "sensor_id": ""}), 'sensor_id: "" is no id of a sensor'),
        (wire(4_000_000, TEMPERATURE, {**READING, "timestamp": 2**62}), "not in the years 1 to 9999"),
    ],
)
def test_avro_that_does_not_fit_is_refused(spark: SparkSession, message: bytes, reason: str) -> None:
    mapper = JavaMapper(spark, TEMPERATURE, streams="*", subject="Temperature", format="avro")
    assert reason in mapper.refusal(message)


@given(st.binary(max_size=60))
@settings(max_examples=100, suppress_health_check=list(HealthCheck), deadline=None)
def test_no_bytes_of_a_device_do_harm(spark: SparkSession, body: bytes) -> None:
    mapper = JavaMapper(spark, TEMPERATURE, streams="*", subject="Temperature", format="avro")
    mapper.attempt(GOOD[:5] + body)
