"""How schemas become columns, and numbers become ranges."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.errors import InvalidRecord
from catchment.lake.layout import (
    Column,
    Part,
    Type,
    by_topic,
    fitted,
    of_events,
    of_measurements,
    table_of,
)
from catchment.lake.ranges import Ranges
from catchment.records import Kind
from tests.lakes import SHIPPED, TEMPERATURE


def schema(**fields: Any) -> str:
    listed = [{"name": name, "type": kind} for name, kind in fields.items()]
    return json.dumps({"type": "record", "name": "Reading", "fields": listed})


def types(**fields: Any) -> dict[str, Type]:
    layout = of_measurements("Reading", schema(**fields))
    return {column.argument: column.type for column in layout.columns if column.part is Part.FIELD}


@pytest.mark.parametrize(
    ("subject", "table"),
    [
        ("TemperatureData", "temperature_data"),
        ("TemperatureData-value", "temperature_data"),
        ("CO2", "co2"),
        ("com.example.Flow-Rate", "com_example_flow_rate"),
        ("records", "records_data"),
        ("---", "measurements"),
    ],
)
def test_a_subject_names_its_table(subject: str, table: str) -> None:
    assert table_of(subject) == table


def test_fields_are_typed() -> None:
    nested = {"type": "record", "name": "Place", "fields": [{"name": "x", "type": "int"}]}
    assert types(
        a="boolean",
        b="int",
        c="long",
        d="float",
        e="double",
        f="string",
        g="bytes",
        h={"type": "enum", "name": "Unit", "symbols": ["C", "F"]},
        i=["null", "double"],
        j={"type": "long", "logicalType": "timestamp-millis"},
        k={"type": "int", "logicalType": "date"},
        m=nested,
        n={"type": "array", "items": "double"},
        o=["string", "double"],
        p="Unit",
    ) == {
        "a": Type.BOOLEAN,
        "b": Type.LONG,
        "c": Type.LONG,
        "d": Type.DOUBLE,
        "e": Type.DOUBLE,
        "f": Type.STRING,
        "g": Type.BINARY,
        "h": Type.STRING,
        "i": Type.DOUBLE,
        "j": Type.TIMESTAMP,
        "k": Type.DATE,
        "m": Type.STRING,
        "n": Type.STRING,
        "o": Type.STRING,
        "p": Type.STRING,
    }


def test_a_field_that_is_named_like_a_column_of_ours_gets_another_name() -> None:
    layout = of_measurements("Reading", schema(site="string", Site="string", day="int", value="double"))
    names = [column.name for column in layout.columns if column.part is Part.FIELD]
    assert names == ["site_", "Site__", "day_", "value"]


def test_every_row_has_its_stamp_and_its_delay() -> None:
    names = {column.name for column in of_measurements("TemperatureData", TEMPERATURE).columns}
    stamp = {"site", "gateway", "epoch", "stream", "sequence", "origin_us"}
    assert stamp | {"sensor", "time", "arrived_ms", "delay_ms", "temperature", "unit", "timestamp"} <= names


def test_a_field_that_changed_its_type_gets_a_column_of_its_own() -> None:
    layout = of_measurements("Reading", schema(value="double", mode="string"))
    columns = {
        column.argument: column
        for column in fitted(layout, {"value": Type.LONG, "Mode": Type.STRING}).columns
        if column.part is Part.FIELD
    }
    assert columns["value"] == Column("value_double", Type.DOUBLE, Part.FIELD, "value")
    assert columns["mode"].name == "Mode"


def test_the_shipped_event_is_numbered_by_rule_and_sensor() -> None:
    layout = of_events((SHIPPED / "TemperatureThresholdExceeded.avsc").read_text(encoding="utf-8"))
    assert (layout.table, layout.number) == ("events", "sequence")
    assert set(layout.identity) == {"node", "site", "sensor_id", "rule"}


def test_what_is_no_event_is_refused() -> None:
    with pytest.raises(InvalidRecord, match="lacks its number"):
        of_events(schema(value="double"))


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_layout_or_takes_that_of_its_schema(kind: Kind) -> None:
    layout = by_topic(kind)
    assert (layout is None) == (kind in (Kind.MEASUREMENTS, Kind.EVENTS))
    if layout:
        assert {*layout.identity, layout.number, *layout.equal} <= {column.name for column in layout.columns}


pairs = st.tuples(st.integers(1, 40), st.integers(0, 6)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(pairs, max_size=20))
def test_ranges_are_a_set_of_numbers(added: list[tuple[int, int]]) -> None:
    ranges, model = Ranges(added), {number for a, b in added for number in range(a, b + 1)}
    assert {number for a, b in ranges for number in range(a, b + 1)} == model
    assert (ranges.count, ranges.highest) == (len(model), max(model, default=0))
    listed = list(ranges)
    assert all(one[1] + 1 < other[0] for one, other in itertools.pairwise(listed))
    missing = set(range(1, ranges.highest + 1)) - model
    assert {number for a, b in ranges.gaps(1, 100) for number in range(a, b + 1)} == missing
