"""Whether rows fit where outputs send them, and what a table of the lake is told of them."""

from typing import Any

import pytest

from catchment.errors import InvalidQuery
from catchment.lake.results import ResultTable
from catchment.queries.checker import check_text
from catchment.queries.known import Known
from catchment.queries.result_tables import is_steady, table_text
from catchment.twins.model import TwinTypeSpec

ROOMS = """
name: warm-rooms
inputs:
  readings: {records: 'rooms/*', schema: {at: timestamp, room: string, degrees: double, tags: array<string>}}
boxes:
  hours: {aggregate: readings, by: [room], time: at, window: {tumbling: 1h}, values: {mean: avg(degrees)}}
  warmest: {top: hours, order_by: mean desc, limit: 1}
  last: {map: readings, select: {room: room, degrees: degrees}}
"""


def checked(output: str, known: Known | None = None, before: str = "") -> Any:
    others = "hours: {from: hours}, warmest: {from: warmest}, last: {from: last}"
    return check_text(f"{ROOMS}{before}outputs: {{{others}, out: {output}}}", known)


def refused(output: str, known: Known | None = None, before: str = "") -> list[str]:
    with pytest.raises(InvalidQuery) as error:
        checked(output, known, before)
    return [problem.partition(": ")[2] for problem in error.value.problems]


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (
            "{from: readings, to: lake}",
            "output out: tags is an array<string>, which no table of the lake holds. "
            "Use array_join(tags, ' ') in a map box, or one row for each element with `each`.",
        ),
        (
            "{from: hours, to: lake, table: records}",
            "output out, table: the table records is that of a topic. Name another with `table:`.",
        ),
        (
            "{from: hours, to: lake, table: temperature_data}",
            "output out, table: the table temperature_data is that of the measurements TemperatureData. "
            "Name another with `table:`.",
        ),
        (
            "{from: hours, table: hours}",
            "output out, table: only the lake has tables. Leave it out, or write `to: lake`.",
        ),
        (
            "{from: hours, to: twins, type: room, object: room}",
            "output out: window_start is a timestamp, which no twin can have. "
            "Use cast(window_start as string) in a map box, or leave it out there.",
        ),
    ],
)
def test_rows_that_do_not_fit_are_refused_without_a_node(output: str, line: str) -> None:
    assert line in refused(output)


def test_a_column_of_the_table_s_own_and_two_outputs_for_one_table_are_refused() -> None:
    before = "  days: {map: hours, select: {day: room}}\n"
    lines = refused(
        "{from: days, to: lake, table: t}, again: {from: hours, to: lake, table: t}", None, before
    )
    own, first, second = lines
    assert own == "output out: a table has a column day already. Give it another name in a map box."
    assert "the table t is that of the output again" in first
    assert "the table t is that of the output out" in second


def test_a_node_knows_its_lake_and_the_tables_of_other_queries() -> None:
    [line] = refused("{from: hours, to: lake}", Known(has_lake=False))
    assert line.startswith("output out, to: this node has no lake. Set lake.enabled")
    [line] = refused("{from: hours, to: lake}", Known(tables={"warm_rooms_out": "other"}))
    assert "the table warm_rooms_out is that of the query other" in line


def room(**fields: Any) -> Known:
    values = {"degrees": {"kind": "number"}}
    spec = TwinTypeSpec.model_validate({"name": "Room", "values": values, "writers": ["query/*"], **fields})
    return Known(twin_specs={"room": spec})


TO_TWINS = "{from: last, to: twins, type: room, object: room}"


def test_a_node_knows_whether_twins_take_the_values_of_a_query() -> None:
    assert checked(TO_TWINS, room())
    assert refused(TO_TWINS.replace("type: room", "type: roon"), room()) == [
        "output out, type: there is no type roon of twins. Did you mean room?"
    ]
    assert refused(TO_TWINS, room(values={"degrees": {"kind": "integer"}})) == [
        "output out: degrees is a double, and of the type room a bigint. "
        "Use cast(degrees as bigint) in a map box."
    ]
    assert refused(TO_TWINS, room(values={})) == [
        "output out: the type room has no value degrees. Leave it out with a map box, or add it to the type."
    ]
    assert checked(TO_TWINS, room(values={}, open=True))
    assert refused(TO_TWINS, room(writers=["user/*"])) == [
        "output out, type: the type room does not let this query write. "
        "Add query/warm-rooms to the writers of the type."
    ]


def test_a_sentence_has_a_column_of_its_own() -> None:
    before = "  texts: {map: hours, select: {text: room}}\n"
    assert refused("{from: texts, say: '{text}!'}", None, before) == [
        "output out, say: there is a column text already, where sentences stand. "
        "Give it another name in a map box."
    ]
    assert checked("{from: texts, to: alerts, say: '{text}!'}", None, before)


def test_late_rows_leave_as_they_are_and_once() -> None:
    late = ROOMS.replace("window: {tumbling: 1h}", "window: {tumbling: 1h}, late: side")
    others = "a: {from: warmest}, b: {from: last}"
    right = check_text(f"{late}outputs: {{{others}, late: {{from: hours.late}}}}")
    assert right.streams["hours.late"].columns == right.streams["readings"].columns
    with pytest.raises(InvalidQuery) as error:
        check_text(f"{late}outputs: {{{others}, l: {{from: hours.late, to: alerts, say: x}}}}")
    assert "late rows go to results as they are" in error.value.problems[0]
    with pytest.raises(InvalidQuery) as error:
        check_text(f"{late}outputs: {{{others}, l: {{from: hours.late}}, m: {{from: hours.late}}}}")
    assert "late rows leave by the output l already" in error.value.problems[0]


def test_every_result_says_what_its_table_is_like() -> None:
    graph = checked("{from: hours, to: lake, say: '{room}: {mean}'}")
    assert ResultTable.parse(table_text(graph, "out")) == ResultTable(
        table="warm_rooms_out",
        query="warm-rooms",
        output="out",
        columns={
            "room": "string",
            "window_start": "timestamp",
            "window_end": "timestamp",
            "mean": "double",
            "text": "string",
        },
        time="window_start",
        steady=True,
    )
    assert [is_steady(graph, stream) for stream in ("readings", "last", "hours", "warmest")] == [
        True,
        False,
        True,
        False,
    ]
