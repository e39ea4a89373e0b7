"""Avro schemas: what is one, which id it has, and what one version can read of another."""

import io
import json
from typing import Any

import avro.schema
import pytest
from avro.compatibility import ReaderWriterCompatibilityChecker, SchemaCompatibilityType
from fastavro import schemaless_reader, schemaless_writer
from hypothesis import assume, given
from hypothesis import strategies as st

from catchment.errors import SchemaRefused
from catchment.schemas.compatibility import Earlier, Level, Side, differences, objections
from catchment.schemas.schema import check_measurement, id_of, parse
from catchment.schemas.shipped import TEMPERATURE, THRESHOLD_EVENT, TWIN_NOTICE, shipped
from catchment.schemas.subjects import Subject, read_subject


def record(*fields: dict[str, Any], name: str = "Reading") -> str:
    return json.dumps({"type": "record", "name": name, "fields": list(fields)})


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def against(level: Level, new: str, *earlier: str) -> list[str]:
    versions = [Earlier(f"version {number}", parse(text)) for number, text in enumerate(earlier, 1)]
    return objections(level, parse(new), versions)


# Text and ids


def test_space_and_the_order_of_keys_do_not_change_an_id() -> None:
    one = parse('{"type": "record", "name": "A", "fields": [{"name": "x", "type": "int"}]}')
    other = parse('{ "name":"A","fields":[ {"type":"int","name":"x"} ], "type":"record" }')
    assert one.text == other.text
    assert one.id == other.id


@pytest.mark.parametrize(
    "changed",
    [
        record(field("x", "long")),
        record(field("x", "int", default=1)),
        record(field("x", "int", doc="what it is")),
        record(field("x", "int"), name="Other"),
    ],
)
def test_whatever_a_schema_says_changes_its_id(changed: str) -> None:
    assert parse(changed).id != parse(record(field("x", "int"))).id


@given(st.text())
def test_ids_fit_the_wire_format_and_are_never_0(text: str) -> None:
    assert 1 <= id_of(text) < 2**31


def test_a_shipped_schema_keeps_its_id() -> None:
    """Data on disk name it: another id is another version of the schema, on purpose."""
    assert parse(shipped()[TEMPERATURE]).id == 643534759


def test_the_shipped_schemas_are_what_they_are_for() -> None:
    check_measurement(parse(shipped()[TEMPERATURE]))
    check_measurement(parse(shipped()[THRESHOLD_EVENT]))
    check_measurement(parse(shipped()[TWIN_NOTICE]))
    assert set(shipped()) == {TEMPERATURE, THRESHOLD_EVENT, TWIN_NOTICE}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "Expecting value"),
        ("{}", 'No "type" property'),
        ('"colour"', "colour"),
        (record(field("x", "int", default="one")), 'the default "one" of x is not of its type'),
        (record(field("x", "int", default=True)), "the default true of x"),
        (record(field("x", ["null", "int"], default=5)), "first branch"),
        (record(field("x", {"type": "fixed", "name": "F", "size": 2}, default="abc")), "of x"),
        (record(field("x", json.loads(record(field("y", "string", default=1), name="I")))), "of x.y"),
        ('{"type": "record", "name": "A", "fields": [{"name": "x", "type": "int", "default": NaN}]}', "NaN"),
        ('{"type": "enum", "name": "E", "symbols": "AB"}', "symbols"),
        ('{"type": "error", "name": "E", "fields": []}', "protocols"),
        ("[" * 5000 + "]" * 5000, "recursion"),
    ],
)
def test_what_is_no_schema_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(SchemaRefused, match="This is no Avro schema") as refusal:
        parse(text)
    assert reason in str(refusal.value)


def test_defaults_of_every_type() -> None:
    inner = json.loads(record(field("y", "string"), name="Inner"))
    parse(
        record(
            field("a", ["null", "int"], default=None),
            field("b", "bytes", default="\u00ff"),
            field("c", {"type": "enum", "name": "E", "symbols": ["A"]}, default="A"),
            field("d", {"type": "array", "items": "long"}, default=[1, 2]),
            field("e", {"type": "map", "values": "double"}, default={"k": 1}),
            field("f", inner, default={"y": "text"}),
            field("g", {"type": "long", "logicalType": "our-own"}, default=1),
        )
    )


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        (record(field("timestamp", "long"), field("x", "int")), "sensor_id of type string"),
        (record(field("sensor_id", "int"), field("timestamp", "long"), field("x", "int")), "sensor_id"),
        (record(field("sensor_id", "string"), field("timestamp", "string"), field("x", "int")), "timestamp"),
        (record(field("sensor_id", "string"), field("timestamp", "long")), "no field to measure"),
        ('"string"', "sensor_id"),
    ],
)
def test_measurements_name_a_sensor_a_time_and_a_value(text: str, lacks: str) -> None:
    with pytest.raises(SchemaRefused, match=lacks):
        check_measurement(parse(text))


# Compatibility

X = record(field("x", "int"))
X_AND_Y = record(field("x", "int"), field("y", "string"))
X_AND_DEFAULT_Y = record(field("x", "int"), field("y", "string", default=""))
DEFAULT_X = record(field("x", "int", default=0))
LONG_X = record(field("x", "long"))


@pytest.mark.parametrize(
    ("level", "earlier", "new", "said"),
    [
        (Level.BACKWARD, X, X_AND_DEFAULT_Y, None),
        (Level.BACKWARD, X_AND_Y, X, None),
        (Level.BACKWARD, X, LONG_X, None),
        (Level.BACKWARD, X, X_AND_Y, "field y: the new schema has no default for it, and version 1"),
        (
            Level.BACKWARD,
            LONG_X,
            X,
            "field x: version 1 writes long, which the new schema cannot read as int",
        ),
        (Level.FORWARD, X, X_AND_Y, None),
        (Level.FORWARD, X_AND_Y, X, "field y: version 1 has no default for it, and the new schema"),
        (Level.FORWARD, X, LONG_X, "field x: the new schema writes long, which version 1 cannot read as int"),
        (Level.FULL, X, X_AND_DEFAULT_Y, None),
        (Level.FULL, X, X_AND_Y, "field y"),
        (Level.FULL, X, LONG_X, "field x"),
        (Level.NONE, X, '"string"', None),
        (Level.BACKWARD, X, record(field("x", "int"), name="Other"), "the schema itself"),
        (
            Level.BACKWARD,
            record(field("e", {"type": "enum", "name": "E", "symbols": ["A", "B"]})),
            record(field("e", {"type": "enum", "name": "E", "symbols": ["A"]})),
            "field e: version 1 writes enum E (A, B), which the new schema cannot read as enum E (A)",
        ),
        (
            Level.BACKWARD,
            record(field("l", {"type": "array", "items": json.loads(X)}), name="Outer"),
            record(field("l", {"type": "array", "items": json.loads(X_AND_Y)}), name="Outer"),
            "field l[].y",
        ),
        (
            Level.BACKWARD,
            record(field("m", {"type": "map", "values": "string"})),
            record(field("m", {"type": "map", "values": "int"})),
            "field m{}",
        ),
        (
            Level.BACKWARD,
            record(field("u", ["null", "string"])),
            record(field("u", "string")),
            "field u: version 1 writes [null, string], which the new schema cannot read as string",
        ),
    ],
)
def test_a_level_says_which_changes_may_be_and_which_field_is_in_the_way(
    level: Level, earlier: str, new: str, said: str | None
) -> None:
    found = against(level, new, earlier)
    assert [said and said in each for each in found] == ([] if said is None else [True])


def test_only_a_transitive_level_looks_beyond_the_latest_version() -> None:
    versions = [X, X_AND_DEFAULT_Y, X_AND_Y]
    assert against(Level.BACKWARD, X_AND_Y, *versions) == []
    assert against(Level.BACKWARD_TRANSITIVE, X_AND_Y, *versions) == [
        "field y: the new schema has no default for it, and version 1 does not have it"
    ]
    assert against(Level.FORWARD, X, DEFAULT_X, X_AND_Y, X_AND_DEFAULT_Y) == []
    assert len(against(Level.FORWARD_TRANSITIVE, X, DEFAULT_X, X_AND_Y, X_AND_DEFAULT_Y)) == 1


def test_every_field_that_is_in_the_way_is_named() -> None:
    found = against(Level.BACKWARD, record(field("x", "string"), field("y", "int")), X)
    assert [each.partition(":")[0] for each in found] == ["field x", "field y"]


def test_a_field_may_be_renamed_with_an_alias() -> None:
    assert against(Level.BACKWARD, record(field("z", "int", aliases=["x"])), X) == []


def test_a_schema_that_contains_itself() -> None:
    node = record(field("value", "int"), field("next", ["null", "Reading"], default=None))
    changed = record(field("value", "string"), field("next", ["null", "Reading"], default=None))
    assert against(Level.FULL, node, node) == []
    assert any("field value" in each for each in against(Level.BACKWARD, changed, node))


PRIMITIVES = st.sampled_from(["null", "boolean", "int", "long", "float", "double", "bytes", "string"])
ENUMS = st.lists(st.sampled_from("ABC"), min_size=1, unique=True).map(
    lambda symbols: {"type": "enum", "name": "E", "symbols": symbols}
)
VALUES: dict[str, Any] = {
    "null": None,
    "boolean": True,
    "int": 1,
    "long": 2,
    "float": 0.5,
    "double": 0.5,
    "bytes": b"a",
    "string": "a",
}


@st.composite
def records(draw: st.DrawFn) -> str:
    names = draw(st.lists(st.sampled_from("abc"), unique=True))
    fields = []
    for place, name in enumerate(names):
        kind = draw(PRIMITIVES | (ENUMS if place == 0 else PRIMITIVES) | st.just(["null", "long"]))
        array = draw(st.booleans())
        made = field(name, {"type": "array", "items": kind} if array else kind)
        if array and draw(st.booleans()):
            made["default"] = []
        fields.append(made)
    return record(*fields)


@given(records(), records())
def test_our_verdict_is_that_of_apaches_checker(reader: str, writer: str) -> None:
    ours = differences(Side("r", parse(reader).parsed), Side("w", parse(writer).parsed))
    checker: Any = ReaderWriterCompatibilityChecker
    judged = checker().get_compatibility(avro.schema.parse(reader), avro.schema.parse(writer))
    assert (not ours) is (judged.compatibility is SchemaCompatibilityType.compatible), ours


@given(records(), records())
def test_what_is_called_compatible_can_be_read(reader: str, writer: str) -> None:
    new, old = parse(reader), parse(writer)
    assume(not differences(Side("r", new.parsed), Side("w", old.parsed)))
    # Its reader does not turn text into bytes, which Avro allows.
    assume('"bytes"' not in reader + writer)
    written = io.BytesIO()
    schemaless_writer(written, json.loads(writer), _value(json.loads(writer)))
    written.seek(0)
    assert isinstance(schemaless_reader(written, json.loads(writer), json.loads(reader)), dict)


def _value(schema: Any) -> Any:
    if isinstance(schema, list):
        return _value(schema[-1])
    if isinstance(schema, str):
        return VALUES[schema]
    if schema["type"] == "record":
        return {each["name"]: _value(each["type"]) for each in schema["fields"]}
    if schema["type"] == "array":
        return [_value(schema["items"])]
    return schema["symbols"][-1]


# Subjects


def test_subjects_of_other_sites_carry_their_site() -> None:
    assert read_subject("Temperature", "hq") == Subject("hq", "Temperature")
    assert read_subject(":.:Temperature", "hq") == Subject("hq", "Temperature")
    assert read_subject(":.oslo:Temperature", "hq") == Subject("oslo", "Temperature")
    assert Subject("oslo", "Temperature").called("hq") == ":.oslo:Temperature"
    assert Subject("hq", "Temperature").called("hq") == "Temperature"


@pytest.mark.parametrize("name", ["", "a/b", "-a", "a b", ":.oslo:", "a" * 201, "a\n"])
def test_a_name_that_no_subject_can_have_is_refused(name: str) -> None:
    with pytest.raises(SchemaRefused, match="not the name of a subject"):
        read_subject(name, "hq")
