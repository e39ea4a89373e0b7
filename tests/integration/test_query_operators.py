"""Boxes of continuous queries: in whatever order rows come, results are those of DuckDB over all rows."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import duckdb
import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.pipeline import operators
from catchment.queries.frames.outputs import JSON_ROW
from catchment.records import REASON_HEADER, Kind
from tests.querying import SITE, messages_of, records, settled_results

INPUT = """
inputs:
  packets: {records: 'packets/*', schema: {t: timestamp, host: string, v: bigint}, time: t}
"""

Rows = list[dict[str, Any]]


def rows_of(drawn: Iterable[tuple[int, str, int | None]]) -> Rows:
    return [{"t": 1000 * at_s + index, "host": host, "v": v} for index, (at_s, host, v) in enumerate(drawn)]


ROWS = st.lists(
    st.tuples(st.integers(0, 60), st.sampled_from("abc"), st.none() | st.integers(-3, 12)), max_size=30
).map(rows_of)
SOME = rows_of(
    (7 * index % 53, "abc"[index % 3], None if index % 11 == 4 else index % 9) for index in range(40)
)


def in_duckdb(rows: Rows, sql: str) -> Counter[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE packets (t BIGINT, host VARCHAR, v BIGINT)")
        if rows:
            connection.executemany(
                "INSERT INTO packets VALUES (?, ?, ?)", [list(row.values()) for row in rows]
            )
        return Counter(tuple(map(plain, row)) for row in connection.execute(sql).fetchall())


def plain(value: Any) -> Any:
    """Times as ms since 1970, and numbers that are equal as equal."""
    if isinstance(value, str) and len(value) > 20 and value[10] == "T":
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return round(1000 * value.replace(tzinfo=UTC).timestamp())
    return round(value, 9) if isinstance(value, float) else value


def in_query(results: Sequence[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(map(plain, row.values())) for row in results)


def expect(spark: SparkSession, rows: Rows, boxes: str, outputs: dict[str, str], seed: int = 1) -> None:
    """Runs boxes over rows, and compares each named stream with what SQL gives."""
    wanted = "".join(f"  {name}: {{from: {name}}}\n" for name in outputs)
    text = f"name: compared{INPUT}boxes:\n{boxes}outputs:\n{wanted}"
    found = settled_results(messages_of(spark, text, records(rows, seed)))
    for name, sql in outputs.items():
        assert in_query(found.get(name, [])) == in_duckdb(rows, sql), name


WINDOW = "t // 10000 * 10000"
COUNTS = (
    f"SELECT host, {WINDOW} AS ws, {WINDOW} + 10000, count(*) AS n, sum(v)::BIGINT FROM packets GROUP BY ALL"
)


def test_results_are_written_as_spark_writes_json(spark: SparkSession) -> None:
    columns = {
        "yes": "boolean",
        "n": "int",
        "long one": "bigint",
        "d": "double",
        "text": "string",
        "at": "timestamp",
        "raw": "binary",
        "list": "array<timestamp>",
    }
    ddl = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
    at = datetime(2026, 1, 31, 12, 0, 0, 123_456)
    rows = spark.createDataFrame(
        [
            (True, 1, 2**62, 0.1, 'a"\\\n\u00fc\u20ac\U0001f600', at, bytearray(b"\x00\xff"), [at, None]),
            (False, -1, -1, 1e-300, "", datetime(1969, 12, 31, 23, 59, 59, 1), bytearray(), []),
            (None, None, None, None, None, None, None, None),
            (True, 0, 0, float("nan"), "\x01", at.replace(microsecond=0), bytearray(b"abc"), [at]),
            (True, 0, 0, float("-inf"), "x", at.replace(microsecond=7), bytearray(b"abcd"), [at]),
        ],
        ddl,
    )
    struct = F.struct(*columns)
    ours = operators.column(JSON_ROW, rows, struct, ddl)
    theirs = F.to_json(
        struct, {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", "ignoreNullFields": "false"}
    )
    for found in rows.select(ours.alias("ours"), theirs.alias("theirs")).collect():
        assert found.ours.decode() == found.theirs


def test_columns_may_be_called_like_our_own(spark: SparkSession) -> None:
    text = """
name: named
inputs:
  packets:
    records: 'packets/*'
    schema: {time: timestamp, number: bigint, id: string, shard: bigint}
    time: time
boxes:
  counted: {aggregate: packets, by: [number], values: {id: max(id), version: count(*), edge: sum(shard)}}
outputs: {counted: {from: counted}}
"""
    rows = [{"time": 1000, "number": each % 2, "id": f"{each}", "shard": each} for each in range(4)]
    found = settled_results(messages_of(spark, text, records(rows, 1)))
    assert in_query(found["counted"]) == Counter([(0, "2", 2, 2), (1, "3", 2, 4)])


def test_boxes_without_state(spark: SparkSession) -> None:
    boxes = """
  few: {filter: packets, where: v < 5}
  named: {map: few, select: {t: t, host: upper(host), twice: v * 2}}
  each_one: {map: packets, select: {host: host, one: one}, each: {one: 'array(v, v + 1)'}}
  parts: {split: packets, into: {low: v < 3, middle: v < 6}, otherwise: high}
  outer: {union: [parts.low, parts.high]}
  ends: {map: outer, select: {t: t, v: v}}
"""
    outputs = {
        "named": "SELECT t, upper(host), v * 2 FROM packets WHERE v < 5",
        "each_one": "SELECT host, unnest([v, v + 1]) FROM packets",
        "ends": "SELECT t, v FROM packets WHERE v < 3 OR NOT coalesce(v < 6, false)",
    }
    expect(spark, SOME, boxes, outputs)


def test_windows_of_time(spark: SparkSession) -> None:
    boxes = """
  counts:
    aggregate: packets
    by: [host]
    window: {tumbling: 10s}
    values:
      n: count(*)
      known: count(v)
      total: sum(v)
      mean: avg(v)
      low: min(v)
      high: max(v)
      opening: first(v)
      closing: last(v)
      different: count_distinct(v)
  sliding: {aggregate: packets, window: {sliding: 20s, advance: 10s}, values: {n: count(*), total: sum(v)}}
  ever: {aggregate: packets, by: [v], values: {n: count(*)}}
"""
    values = (
        "count(*), count(v), sum(v)::BIGINT, avg(v), min(v), max(v), arg_min(v, t) FILTER (v IS NOT NULL), "
        "arg_max(v, t) FILTER (v IS NOT NULL), count(DISTINCT v)"
    )
    start = f"{WINDOW} - k"
    outputs = {
        "counts": f"SELECT host, {WINDOW}, {WINDOW} + 10000, {values} FROM packets GROUP BY ALL",
        "sliding": f"SELECT {start}, {start} + 20000, count(*), sum(v)::BIGINT "
        "FROM packets, (VALUES (0), (10000)) AS steps(k) GROUP BY ALL",
        "ever": "SELECT v, count(*) FROM packets GROUP BY v",
    }
    expect(spark, SOME, boxes, outputs)


SESSIONS = """
  SELECT host, min(t), max(t) + 5000, count(*) FROM (
    SELECT *, sum(opens) OVER (PARTITION BY host ORDER BY t) AS session FROM (
      SELECT *, (t - lag(t) OVER (PARTITION BY host ORDER BY t) >= 5000)::INT AS opens FROM packets))
  GROUP BY host, coalesce(session, 0)
"""
COUNT_WINDOWS = """
  SELECT a.host, min(b.t), max(b.t), (a.number / 2)::BIGINT, sum(b.v)::BIGINT
  FROM numbered a, numbered b
  WHERE a.host = b.host AND b.number BETWEEN a.number AND a.number + 2 AND a.number % 2 = 0
  GROUP BY a.host, a.number HAVING count(*) = 3
"""


def test_sessions_and_windows_of_so_many_rows(spark: SparkSession) -> None:
    boxes = """
  sessions: {aggregate: packets, by: [host], window: {session: 5s}, values: {n: count(*)}}
  threes: {aggregate: packets, by: [host], window: {count: 3, advance: 2}, values: {total: sum(v)}}
"""
    numbered = "SELECT *, row_number() OVER (PARTITION BY host ORDER BY t) - 1 AS number FROM packets"
    outputs = {"sessions": SESSIONS, "threes": f"WITH numbered AS ({numbered}) {COUNT_WINDOWS}"}
    expect(spark, SOME, boxes, outputs)


def test_results_that_are_replaced_are_taken_back_by_who_read_them(spark: SparkSession) -> None:
    boxes = """
  counts: {aggregate: packets, by: [host], window: {tumbling: 10s}, values: {n: count(*), total: sum(v)}}
  busy: {filter: counts, where: n >= 2}
  by_number:
    aggregate: counts
    by: [n]
    values: {windows: count(*), most: max(total), hosts: count_distinct(host)}
  busiest: {top: counts, by: [window_start], order_by: 'n desc, host', limit: 2}
"""
    best = f"SELECT *, row_number() OVER (PARTITION BY ws ORDER BY n DESC, host)::INT AS r FROM ({COUNTS})"
    outputs = {
        "busy": f"SELECT * FROM ({COUNTS}) WHERE n >= 2",
        "by_number": "SELECT n, count(*), max(total), count(DISTINCT host) "
        f"FROM ({COUNTS}) AS counts(host, ws, we, n, total) GROUP BY n",
        "busiest": f"SELECT * FROM ({best}) WHERE r <= 2",
    }
    expect(spark, SOME, boxes, outputs)


def test_joins_of_streams(spark: SparkSession) -> None:
    boxes = """
  low: {filter: packets, where: v < 3}
  high: {filter: packets, where: v >= 6}
  pairs: {join: [low, high], on: host = host, within: 8s, select: {a: low.t, b: high.t, host: low.host}}
  maybe: {join: [low, high], on: host = host, within: 3s, kind: left, select: {a: low.t, b: high.t}}
"""
    near = "l.host = h.host AND h.v >= 6 AND abs(l.t - h.t) <= "
    outputs = {
        "pairs": f"SELECT l.t, h.t, l.host FROM packets l JOIN packets h ON {near} 8000 WHERE l.v < 3",
        "maybe": f"SELECT l.t, h.t FROM packets l LEFT JOIN packets h ON {near} 3000 WHERE l.v < 3",
    }
    expect(spark, SOME, boxes, outputs)


def test_what_cannot_be_read_goes_to_the_dead_letters(spark: SparkSession) -> None:
    rows: Rows = [
        {"t": 1000, "host": "a", "v": 1},
        {"t": 2000, "host": "a", "v": "many"},
        {"host": "a", "v": 2},
    ]
    text = f"""
name: refusing{INPUT}
boxes:
  counts: {{aggregate: packets, by: [host], window: {{tumbling: 10s}}, values: {{n: count(*)}}}}
outputs:
  counts: {{from: counts}}
"""
    messages = messages_of(spark, text, records(rows, 1, repeated=False))
    letters = [each for each in messages.collect() if each.topic == Kind.DEADLETTER.topic]
    reasons = sorted(
        bytes(each.value).decode()
        for letter in letters
        for each in letter.headers
        if each.key == REASON_HEADER
    )
    assert reasons == [
        "query refusing, box counts: it has no time",
        "query refusing, input packets: column v: many is no bigint",
    ]
    assert [row["n"] for row in settled_results(messages)["counts"]] == [1]


def test_rows_are_changes_of_twins_if_they_say_of_which(spark: SparkSession) -> None:
    text = f"""
name: objects{INPUT}
boxes:
  named: {{map: packets, select: {{host: "nullif(host, 'a')", v: v}}}}
outputs:
  hosts: {{from: named, to: twins, type: host, object: host}}
"""
    rows: Rows = [{"t": 1000, "host": "a", "v": 1}, {"t": 1000, "host": "b", "v": None}]
    found = messages_of(spark, text, records(rows, 1, repeated=False)).collect()
    [change] = [each for each in found if each.topic == Kind.TWIN_CHANGES.topic]
    assert bytes(change.key) == f"{SITE}/b".encode()
    said = orjson.loads(bytes(change.value))
    assert said["change"] == {"action": "put", "type": "host", "values": {"v": {"unset": True}}}
    assert said["user"] == "query/objects"
    [letter] = [each for each in found if each.topic == Kind.DEADLETTER.topic]
    reasons = [bytes(each.value).decode() for each in letter.headers if each.key == REASON_HEADER]
    assert reasons == ["query objects, output hosts: host is null"]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[str, str]:
    """Boxes in a row, each of which gives t, host and v again, and the same in SQL."""
    boxes = "  begun: {map: packets, select: {t: t, host: host, v: v}}\n"
    sql, stream = "SELECT t, host, v FROM packets", "begun"
    for number in range(draw(st.integers(1, 3))):
        made, sql, stream = draw(st.sampled_from(STEPS))(number, stream, sql)
        boxes += made
    return boxes + f"  last: {{map: {stream}, select: {{t: t, host: host, v: v}}}}\n", sql


def _filtered(number: int, stream: str, sql: str) -> tuple[str, str, str]:
    made = f"  s{number}: {{filter: {stream}, where: v % 3 != 1}}\n"
    return made, f"SELECT * FROM ({sql}) WHERE v % 3 != 1", f"s{number}"


def _exploded(number: int, stream: str, sql: str) -> tuple[str, str, str]:
    select = "select: {t: t, host: host, v: w}, each: {w: 'array(v, v + 2)'}"
    made = f"  s{number}: {{map: {stream}, {select}}}\n"
    return made, f"SELECT t, host, unnest([v, v + 2]) AS v FROM ({sql})", f"s{number}"


def _united(number: int, stream: str, sql: str) -> tuple[str, str, str]:
    made = (
        f"  a{number}: {{filter: {stream}, where: v > 2}}\n"
        f"  b{number}: {{map: {stream}, select: {{t: t, host: upper(host), v: v - 1}}}}\n"
        f"  s{number}: {{union: [a{number}, b{number}]}}\n"
    )
    both = f"SELECT * FROM ({sql}) WHERE v > 2 UNION ALL SELECT t, upper(host), v - 1 FROM ({sql})"
    return made, both, f"s{number}"


def _aggregated(window: str, function: str) -> Any:
    def step(number: int, stream: str, sql: str) -> tuple[str, str, str]:
        made = (
            f"  w{number}: {{aggregate: {stream}, by: [host], time: t, "
            f"window: {{{window}}}, values: {{x: {function}(v)}}}}\n"
            f"  s{number}: {{map: w{number}, select: {{t: window_start, host: host, v: x}}}}\n"
        )
        steps = "(VALUES (0), (10000)) AS steps(k)" if "sliding" in window else "(VALUES (0)) AS steps(k)"
        inner = (
            f"SELECT {WINDOW} - k AS t, host, {function}(v)::BIGINT AS v FROM ({sql}), {steps} GROUP BY ALL"
        )
        return made, inner.replace("GROUP BY ALL", f"GROUP BY {WINDOW} - k, host"), f"s{number}"

    return step


def _ranked(number: int, stream: str, sql: str) -> tuple[str, str, str]:
    made = (
        f"  t{number}: {{top: {stream}, by: [host], order_by: 'v desc, t', limit: 2}}\n"
        f"  s{number}: {{map: t{number}, select: {{t: t, host: host, v: v}}}}\n"
    )
    order = "row_number() OVER (PARTITION BY host ORDER BY v DESC NULLS LAST, t) AS r"
    return made, f"SELECT t, host, v FROM (SELECT *, {order} FROM ({sql})) WHERE r <= 2", f"s{number}"


STEPS = (
    _filtered,
    _exploded,
    _united,
    _ranked,
    _aggregated("tumbling: 10s", "sum"),
    _aggregated("tumbling: 10s", "max"),
    _aggregated("sliding: 20s, advance: 10s", "count"),
)


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=ROWS, graph=graphs(), seed=st.integers(0, 1000))
def test_random_graphs(spark: SparkSession, rows: Rows, graph: tuple[str, str], seed: int) -> None:
    boxes, sql = graph
    expect(spark, rows, boxes, {"last": sql}, seed)
