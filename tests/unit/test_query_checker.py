"""Wrong declarations are refused with one line each, by box, column and remedy; right ones are understood."""

import re
import textwrap
from pathlib import Path

import pytest

from catchment.errors import InvalidQuery
from catchment.queries.checker import check_text
from catchment.queries.functions import FUNCTIONS
from catchment.queries.graph import AggregateValue, Graph, OrderBy

INPUTS = """
name: busiest-host
inputs:
  packets:
    records: packets/*
    schema: {time: timestamp, protocol: string, source: string, target: string, bytes: bigint}
    time: time
"""


def query(boxes: str, outputs: str = "outputs: {out: {from: x}}", inputs: str = INPUTS) -> str:
    return f"{inputs}boxes:\n{textwrap.indent(textwrap.dedent(boxes).strip(), '  ')}\n{outputs}\n"


def problems(text: str) -> list[str]:
    with pytest.raises(InvalidQuery) as refused:
        check_text(text)
    return refused.value.problems


WRONG_BOXES = {
    "unknown column": (
        "x: {filter: packets, where: protocl = 'tcp'}",
        "line 9: box x, where: there is no column protocl. Did you mean protocol?",
    ),
    "no condition": (
        "x: {filter: packets, where: bytes + 1}",
        "line 9: box x, where: bytes + 1 is a bigint, not a condition. Compare it with something.",
    ),
    "types that cannot be compared": (
        "x: {filter: packets, where: bytes = 'many'}",
        "line 9: box x, where: bytes = 'many' puts a bigint beside a string. "
        "Write both of one type, or cast('many' as bigint).",
    ),
    "number wanted": (
        "x: {map: packets, select: {y: target * 2}}",
        "line 9: box x, select.y: target * 2 needs a number and has a string. "
        "Use another column, or cast it to double.",
    ),
    "forbidden function": (
        "x: {map: packets, select: {y: \"java_method('java.lang.System', 'exit', 1)\"}}",
        "line 9: box x, select.y: the function java_method is not allowed. "
        "docs/reference/queries.md lists those that are.",
    ),
    "misspelt function": (
        "x: {map: packets, select: {y: lowr(target)}}",
        "line 9: box x, select.y: the function lowr is not allowed. Did you mean lower?",
    ),
    "answer that changes": (
        "x: {map: packets, select: {y: current_timestamp()}}",
        "line 9: box x, select.y: the function current_timestamp is not allowed. "
        "It gives another answer each time; use a column of the row, such as its time.",
    ),
    "wrong argument": (
        "x: {map: packets, select: {y: lower(bytes)}}",
        "line 9: box x, select.y: LOWER(bytes) has a bigint as argument 1. It is lower(string) string.",
    ),
    "too few arguments": (
        "x: {map: packets, select: {y: split(target)}}",
        "line 9: box x, select.y: split has 1 arguments. It is split(string, string, int?) array<string>.",
    ),
    "subquery": (
        "x: {filter: packets, where: bytes > (select 1)}",
        "line 9: box x, where: (SELECT 1) is not allowed in an expression. "
        "Use columns, operators, case, cast and the functions of docs/reference/queries.md.",
    ),
    "open quote": (
        'x: {filter: packets, where: "protocol = \'tcp"}',
        'line 9: box x, where: "protocol = \'tcp" cannot be read: a quote or bracket is not closed. '
        "Correct it there.",
    ),
    "type that is none": (
        "x: {map: packets, select: {y: cast(bytes as decimal)}}",
        "line 9: box x, select.y: cast cannot give decimal. "
        "Use one of boolean, int, bigint, double, string, timestamp, binary.",
    ),
    "each of no array": (
        "x: {map: packets, each: {word: target}}",
        "line 9: box x, each.word: target is a string, not an array. Make one, as with split(text, ' ').",
    ),
    "map that changes nothing": (
        "x: {map: packets}",
        "line 9: box x: it changes nothing. Add `select:` or `each:`.",
    ),
    "cycle": (
        "x: {union: [packets, y]}\ny: {filter: x, where: bytes > 1}",
        "line 9: box x: it is in a cycle: y → x → y. Let one of them read an input or a box outside of it.",
    ),
    "unknown stream": (
        "x: {filter: packet, where: bytes > 1}",
        "line 9: box x, filter: there is no stream packet. Did you mean packets?",
    ),
    "whole split": (
        "s: {split: packets, into: {small: bytes < 9}}\nx: {filter: s, where: bytes > 1}",
        "line 10: box x, filter: there is no stream s. Write one of its parts: s.small.",
    ),
    "box of no kind": (
        "x: {fliter: packets, where: bytes > 1}",
        "line 9: box x: it does not say what it does. Did you mean filter? A box begins with its kind.",
    ),
    "unknown key": (
        "x: {filter: packets, wher: bytes > 1, where: bytes > 1}",
        "line 9: box x, wher: this key is not known. Did you mean where?",
    ),
    "missing key": (
        "x: {aggregate: packets, by: [target]}",
        "line 9: box x: values is missing. Add `values:`.",
    ),
    "wrong duration": (
        "x: {aggregate: packets, window: {tumbling: 10 sec}, values: {n: count(*)}}",
        "line 9: box x, window.tumbling: '10 sec' is not a duration. "
        "Write a number and ms, s, m, h or d, as in 10s.",
    ),
    "final without a window": (
        "x: {aggregate: packets, values: {n: count(*)}, emit: final}",
        "line 9: box x: emit: final needs a window that closes. "
        "Add a window, as `window: {tumbling: 10s}`, or write `emit: updates`.",
    ),
    "lateness without a window": (
        "x: {aggregate: packets, values: {n: count(*)}, lateness: 5s}",
        "line 9: box x, lateness: it has a meaning only with a window. "
        "Add a window, as `window: {tumbling: 10s}`, or leave it out.",
    ),
    "window without time": (
        "m: {map: packets, select: {target: target}}\n"
        "x: {aggregate: m, window: {tumbling: 10s}, values: {n: count(*)}}",
        "line 10: box x: m has no column of time that its windows could go by. "
        "Add `time: COLUMN`, or select the time in the map box before.",
    ),
    "time that is none": (
        "x: {aggregate: packets, time: bytes, window: {tumbling: 10s}, values: {n: count(*)}}",
        "line 9: box x, time: bytes is a bigint, not a timestamp. "
        "Declare it as one, or make one with timestamp_millis(bytes) in a map box.",
    ),
    "two windows": (
        "x: {aggregate: packets, window: {tumbling: 10s, session: 5s}, values: {n: count(*)}}",
        "line 9: box x, window: it says tumbling and session of tumbling, sliding, session, count. "
        "Say exactly one of them.",
    ),
    "sliding without advance": (
        "x: {aggregate: packets, window: {sliding: 10s}, values: {n: count(*)}}",
        "line 9: box x, window.advance: a sliding window needs a duration to move on by. "
        "Write one, as `advance: 10s`.",
    ),
    "gaps between windows": (
        "x: {aggregate: packets, window: {sliding: 10s, advance: 1m}, values: {n: count(*)}}",
        "line 9: box x, window.advance: rows between the windows would be in none. Use at most 10s.",
    ),
    "count by a duration": (
        "x: {aggregate: packets, window: {count: 10, advance: 1s}, values: {n: count(*)}}",
        "line 9: box x, window.advance: a count window moves on by a number of rows. "
        "Write a number, as `advance: 10`.",
    ),
    "unknown group": (
        "x: {aggregate: packets, by: [host], values: {n: count(*)}}",
        "line 9: box x, by: there is no column host. Use one of time, protocol, source, target, bytes, "
        "origin, site, stream.",
    ),
    "sum of text": (
        "x: {aggregate: packets, values: {n: sum(target)}}",
        "line 9: box x, values.n: sum needs a number, and target is a string. "
        "Use count, or cast(target as double).",
    ),
    "computing with aggregates": (
        "x: {aggregate: packets, values: {n: sum(bytes) / count(*)}}",
        "line 9: box x, values.n: sum(bytes) / count(*) is not one of count, sum, avg, min, max, first, "
        "last, count_distinct of something. "
        "Write a single one, and compute with its result in a map box after it.",
    ),
    "aggregate outside": (
        "x: {map: packets, select: {y: sum(bytes)}}",
        "line 9: box x, select.y: the function sum is not allowed. "
        "Compute it in the values of an aggregate box.",
    ),
    "value like a group": (
        "x: {aggregate: packets, by: [target], values: {target: count(*)}}",
        "line 9: box x, values.target: there is a column target already. Give it another name.",
    ),
    "wrong order": (
        "x: {top: packets, order_by: bytes descending, limit: 3}",
        "line 9: box x, order_by: order_by has 'descending' after bytes. Write asc or desc.",
    ),
    "union of different columns": (
        "m: {map: packets, select: {bytes: bytes}}\nx: {union: [m, packets]}",
        "line 10: box x, union: m has no column time, as packets has. "
        "Give all the same columns with map boxes.",
    ),
    "join without a time": (
        "m: {filter: packets, where: bytes > 1}\nx: {join: [packets, m], on: target}",
        "line 10: box x: a join of two streams would wait for ever. "
        "Add `within: 60s`, the time that two rows may be apart.",
    ),
    "join with the same columns": (
        "m: {filter: packets, where: bytes > 1}\nx: {join: [packets, m], on: target, within: 1s}",
        "line 10: box x: both sides have a column time. "
        "Add `select:` with the columns wanted, as `time: packets.time`.",
    ),
    "join with a name of both": (
        "m: {filter: packets, where: bytes > 1}\n"
        "x: {join: [packets, m], on: target, within: 1s, select: {time: time}}",
        "line 10: box x, select.time: both sides have a column time. Write packets.time or m.time.",
    ),
    "join on different types": (
        "m: {map: packets, select: {time: time, size: bytes}}\n"
        "x: {join: [packets, m], on: target = size, within: 1s, select: {size: size}}",
        "line 10: box x, on: on compares a string with a bigint. "
        "Write cast(size as string), or compare other columns.",
    ),
    "join on less": (
        "m: {map: packets, select: {time: time, size: bytes}}\n"
        "x: {join: [packets, m], on: bytes < size, within: 1s, select: {size: size}}",
        "line 10: box x, on: on has bytes < size, which is no equality of both sides. "
        "Write left = right, and put other conditions into a filter box after it.",
    ),
    "unused box": (
        "x: {filter: packets, where: bytes > 1}\ny: {filter: packets, where: bytes > 2}",
        "line 10: box y: nothing reads what it gives. Add an output with `from: y`, or leave it out.",
    ),
    "name clash": (
        "packets: {filter: packets, where: bytes > 1}\nx: {filter: packets, where: bytes > 2}",
        "line 9: box packets: one of the inputs has the same name. Give one of them another.",
    ),
    "box twice": (
        "x: {filter: packets, where: bytes > 1}\nx: {filter: packets, where: bytes > 2}",
        "line 10: box x: it is there twice, first at line 9. Give one of them another name.",
    ),
    "name of a box": (
        "Big-Ones: {filter: packets, where: bytes > 1}\nx: {filter: packets, where: bytes > 2}",
        "line 9: box Big-Ones: 'Big-Ones' cannot stand here. "
        "Use small letters, digits and underscores, with a letter first.",
    ),
    "late rows into a box": (
        "c: {aggregate: packets, window: {tumbling: 1s}, values: {n: count(*)}, late: side}\n"
        "x: {union: [c.late, packets]}",
        "line 10: box x, union: late rows can only leave by an output. Add an output with `from: c.late`.",
    ),
}


@pytest.mark.parametrize(("boxes", "line"), WRONG_BOXES.values(), ids=list(WRONG_BOXES))
def test_a_wrong_box_is_one_line(boxes: str, line: str) -> None:
    assert problems(query(boxes)) == [line]


WRONG_EDGES = {
    "input of no kind": (
        "name: q\ninputs: {i: {format: text}}\noutputs: {o: {from: i}}",
        "line 2: input i: it says none of records, measurements, results, events, alerts, twin-history. "
        "Say exactly one of them.",
    ),
    "records without columns": (
        "name: q\ninputs: {i: {records: '*'}}\noutputs: {o: {from: i}}",
        "line 2: input i: records of JSON need their columns. Add `schema: {column: type, …}`.",
    ),
    "unknown type": (
        "name: q\ninputs: {i: {records: '*', schema: {a: long}}}\noutputs: {o: {from: i}}",
        "line 2: input i, schema.a: 'long' is not a type. Write bigint.",
    ),
    "unknown subject": (
        "name: q\ninputs: {i: {measurements: Humidity}}\noutputs: {o: {from: i}}",
        "line 2: input i: the columns of the subject Humidity are not known. "
        "Add `schema:` with its columns, or declare it at the node first.",
    ),
    "time of an input": (
        "name: q\ninputs: {i: {records: '*', schema: {a: bigint}, time: a}}\noutputs: {o: {from: i}}",
        "line 2: input i, time: a is a bigint, not a timestamp. "
        "Declare it as one, or make one with timestamp_millis(a) in a map box.",
    ),
    "unused input": (
        "name: q\ninputs: {i: {records: '*', format: text}, j: {records: '*', format: text}}\n"
        "outputs: {o: {from: i}}",
        "line 2: input j: nothing reads it. Let a box read it, or leave it out.",
    ),
    "unused table": (
        "name: q\ninputs: {i: {records: '*', format: text}}\ntables: {t: {registry: devices}}\n"
        "outputs: {o: {from: i}}",
        "line 3: table t: nothing reads it. Let a box read it, or leave it out.",
    ),
    "table as a stream": (
        "name: q\ninputs: {i: {records: '*', format: text}}\ntables: {t: {registry: devices}}\n"
        "boxes: {b: {filter: t, where: id = 'a'}}\noutputs: {o: {from: i}, p: {from: b}}",
        "line 4: box b, filter: t is a table, not a stream. Join a stream with it: `join: [STREAM, TABLE]`.",
    ),
    "join with a table within": (
        "name: q\ninputs: {i: {records: '*', format: text}}\ntables: {t: {registry: devices}}\n"
        "boxes: {b: {join: [i, t], on: text = id, within: 5s, select: {a: text}}}\noutputs: {p: {from: b}}",
        "line 4: box b, within: t is a table, which has no time. Leave it out.",
    ),
    "sentence": (
        "name: q\ninputs: {i: {records: '*', format: text}}\noutputs: {o: {from: i, say: 'It is {txt}'}}",
        "line 3: output o, say: there is no column txt. Did you mean text?",
    ),
    "alert without a sentence": (
        "name: q\ninputs: {i: {records: '*', format: text}}\noutputs: {o: {from: i, to: alerts}}",
        "line 3: output o: an alert needs a sentence. Add `say:`, with columns as {column}.",
    ),
    "twins of no type": (
        "name: q\ninputs: {i: {records: '*', format: text}}\noutputs: {o: {from: i, to: twins}}",
        "line 3: output o: twins need a type and an object. Add `type: TYPE` and `object: COLUMN`.",
    ),
    "output of nothing": (
        "name: q\ninputs: {i: {records: '*', format: text}}\noutputs: {o: {from: i}, p: {from: k}}",
        "line 3: output p, from: there is no stream k. Use one of i.",
    ),
    "name of a query": (
        "name: My Query\ninputs: {i: {records: '*', format: text}}\noutputs: {o: {from: i}}",
        "line 1: name: 'My Query' cannot stand here. "
        "Use small letters, digits and hyphens, with a letter or digit first, at most 63.",
    ),
    "no outputs": (
        "name: q\ninputs: {i: {records: '*', format: text}}",
        "outputs is missing. Add `outputs:`.",
    ),
    "no YAML": ("name: [q", None),
    "a list": ("- name", "This is not a mapping of keys to values. Begin with `name: my-query`."),
}


@pytest.mark.parametrize(("text", "line"), WRONG_EDGES.values(), ids=list(WRONG_EDGES))
def test_a_wrong_input_or_output_is_one_line(text: str, line: str | None) -> None:
    found = problems(text)
    assert len(found) == 1
    assert line is None or found == [line]


def test_every_mistake_is_told_at_once() -> None:
    found = problems(
        query("x: {filter: packets, where: protocl = 'tcp'}\ny: {filter: packets, where: byte > 1}")
    )
    assert len(found) == 3, found
    assert "protocl" in found[0]
    assert "byte" in found[1]
    assert "nothing reads" in found[2]


def busiest() -> Graph:
    boxes = """
    tcp: {filter: packets, where: protocol = 'tcp'}
    named: {map: tcp, select: {at: time, host: lower(target), size: bytes * 1.5}}
    counts: {aggregate: named, by: [host], window: {tumbling: 10s},
             values: {contacts: count(*), mean: avg(size)}}
    x: {top: counts, by: [window_start], order_by: "contacts desc, host", limit: 1}
    """
    return check_text(query(boxes))


def test_the_streams_of_a_right_query_have_columns_time_and_whether_rows_are_replaced() -> None:
    streams = busiest().streams
    assert streams["named"].columns == {"at": "timestamp", "host": "string", "size": "double"}
    assert streams["named"].time == "at"
    assert not streams["named"].updating
    assert list(streams["counts"].columns) == ["host", "window_start", "window_end", "contacts", "mean"]
    assert streams["counts"].updating
    assert streams["x"].columns["rank"] == "int"


def test_parts_of_boxes_are_ready_for_the_compiler() -> None:
    graph = busiest()
    assert graph.selects["named"]["size"] == "CAST((bytes * 1.5) AS double)"
    assert graph.aggregates["counts"][1] == AggregateValue("mean", "avg", "size", "double", "double")
    assert graph.orders["x"] == (OrderBy("contacts", True), OrderBy("host", False))
    assert [name for name, _ in graph.boxes()] == ["tcp", "named", "counts", "x"]
    assert graph.times == {"counts": "at"}


def test_a_join_is_over_its_two_sides() -> None:
    boxes = """
    small: {filter: packets, where: bytes < 10}
    x: {join: [packets, small], on: packets.target = small.source, within: 60s,
        select: {time: packets.time, both: packets.bytes + small.bytes, host: small.target}}
    """
    plan = check_text(query(boxes)).joins["x"]
    assert plan.on == (("target", "source"),)
    assert plan.select == {
        "time": "left.time",
        "both": "CAST((left.bytes + right.bytes) AS bigint)",
        "host": "right.target",
    }
    assert (plan.left_time, plan.right_time, plan.table) == ("time", "time", False)


def test_keys_of_a_join_are_of_one_type() -> None:
    boxes = """
    m: {map: packets, select: {time: time, size: cast(bytes as int), host: target}}
    x: {join: [packets, m], on: bytes = size and target = host, within: 1s, select: {host: host}}
    """
    plan = check_text(query(boxes)).joins["x"]
    assert plan.on == (("bytes", "CAST((size) AS bigint)"), ("target", "host"))


def test_a_stream_is_joined_with_a_registry() -> None:
    text = """
    name: placed
    inputs: {readings: {measurements: TemperatureData}}
    tables: {sensors: {registry: sensors}}
    boxes:
      named: {join: [readings, sensors], on: sensor_id = id, kind: left,
              select: {name: name, temperature: temperature}}
    outputs: {out: {from: named}}
    """
    graph = check_text(textwrap.dedent(text))
    assert graph.joins["named"].table
    assert graph.streams["named"].columns == {"name": "string", "temperature": "double"}
    assert graph.streams["readings"].columns["timestamp"] == "timestamp"
    assert not graph.streams["named"].updating


def test_late_rows_can_leave_by_an_output_of_their_own() -> None:
    boxes = """
    c: {aggregate: packets, window: {tumbling: 1s}, values: {n: count(*)}, emit: final, late: side}
    """
    graph = check_text(query(boxes, "outputs: {late: {from: c.late}, counts: {from: c}}"))
    assert graph.streams["c.late"].columns == graph.streams["packets"].columns
    assert not graph.streams["c"].updating


def test_the_manual_lists_every_function() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "queries.md"
    block = re.search(r"^```text\n(abs.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert block
    assert block[1].splitlines() == [signature.text for signature in FUNCTIONS.values()]
