"""Small tables beside a query, its commands without Spark, the meters of boxes, and objectives."""

import datetime
import io
from pathlib import Path

import avro.io
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from catchment.alerts.known import Known
from catchment.alerts.model import Event, Phase
from catchment.cli.main import app
from catchment.errors import InvalidQuery
from catchment.pipeline.meters import quantile, recent
from catchment.pipeline.objectives import RULE, Objective, encode
from catchment.queries.checker import check_text
from catchment.queries.tables import (
    differences,
    expected_rows,
    input_rows,
    told_expected,
    told_rows,
    value_of,
)

TEXT = """
name: counted
inputs:
  sent: {records: "*", schema: {time: timestamp, host: string, size: double, tags: array<string>}, time: time}
boxes: {large: {filter: sent, where: size > 10}}
outputs: {large: {from: large}}
"""
GRAPH = check_text(TEXT)
MOMENT = datetime.datetime(2026, 3, 1, 10, tzinfo=datetime.UTC)


def test_csv_and_json_give_the_same_rows(tmp_path: Path) -> None:
    (tmp_path / "input.sent.csv").write_text(
        'time,host,size,tags\n2026-03-01T10:00:00Z,a,1.5,"[""x""]"\n1772359200000,,2,\n'
    )
    from_csv = input_rows(GRAPH, tmp_path)["sent"]
    assert from_csv[0] == {"time": MOMENT, "host": "a", "size": 1.5, "tags": ["x"]}
    assert from_csv[1] == {"time": MOMENT, "host": None, "size": 2.0, "tags": None}
    (tmp_path / "input.sent.csv").unlink()
    lines = [
        {"time": "2026-03-01T11:00:00+01:00", "host": "a", "size": 1.5, "tags": ["x"]},
        {"time": 1772359200000, "host": None, "size": 2, "tags": None},
    ]
    (tmp_path / "input.sent.json").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    assert input_rows(GRAPH, tmp_path)["sent"] == from_csv
    (tmp_path / "input.sent.json").write_bytes(orjson.dumps(lines))
    assert input_rows(GRAPH, tmp_path)["sent"] == from_csv


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("time,hots\n1,a\n", "there is no column hots. Did you mean host"),
        ("size\nmany\n", "could not convert string to float"),
        ("time\nyesterday\n", "Invalid isoformat"),
    ],
)
def test_a_wrong_table_is_refused_by_its_name(tmp_path: Path, content: str, part: str) -> None:
    (tmp_path / "input.sent.csv").write_text(content)
    with pytest.raises(InvalidQuery) as refused:
        input_rows(GRAPH, tmp_path)
    [line] = refused.value.problems
    assert line.startswith("input.sent.csv: ")
    assert part in line


def test_rows_told_as_text_are_those_of_a_file(tmp_path: Path) -> None:
    csv = "time,size\n2026-03-01T10:00:00Z,1.5\n"
    (tmp_path / "input.sent.csv").write_text(csv)
    assert told_rows(GRAPH, {"sent": csv}, {}) == input_rows(GRAPH, tmp_path)
    json = '[{"time": "2026-03-01T10:00:00Z", "size": 1.5}]'
    assert told_rows(GRAPH, {"sent": f" {json}"}, {}) == input_rows(GRAPH, tmp_path)
    assert told_expected(GRAPH, {"large": "host\na\n"}) == {"large": [{"host": "a"}]}


@pytest.mark.parametrize(
    ("told", "part"),
    [
        ({}, "sent: it has no rows"),
        ({"sent": "size", "snet": "size"}, "snet: there is no such input or table. Did you mean sent"),
        ({"sent": "hots\na"}, "sent: there is no column hots. Did you mean host"),
        ({"sent": "[1]"}, "sent: it is not a list of objects"),
        ({"sent": "{"}, "sent: unexpected end"),
    ],
)
def test_wrong_rows_told_as_text_are_named(told: dict[str, str], part: str) -> None:
    with pytest.raises(InvalidQuery) as refused:
        told_rows(GRAPH, told, {})
    assert part in refused.value.problems[0]
    with pytest.raises(InvalidQuery, match="there is no such output"):
        told_expected(GRAPH, {"larger": ""})


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    for read, name in ((input_rows, "input.sent"), (expected_rows, "expected.large")):
        with pytest.raises(InvalidQuery, match=f"There is no {name}.csv beside it"):
            read(GRAPH, tmp_path)


@given(
    st.lists(st.fixed_dictionaries({"a": st.integers(0, 3), "b": st.floats(0, 1)}), max_size=6), st.randoms()
)
def test_the_same_rows_in_any_order_do_not_differ(rows: list[dict[str, float]], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert differences(rows, [{**row, "more": 1} for row in shuffled]) == []
    if rows:
        assert len(differences(rows, shuffled[1:])) == 1
        assert len(differences(rows[1:], shuffled)) == (1 if rows[1:] else len(rows))


def test_only_true_and_false_are_booleans() -> None:
    assert value_of("true", "boolean") is True
    with pytest.raises(ValueError, match="neither true nor false"):
        value_of("yes", "boolean")


def test_check_says_what_is_wrong_and_how_it_ends(tmp_path: Path) -> None:
    file = tmp_path / "query.yaml"
    file.write_text(TEXT)
    right = CliRunner().invoke(app, ["query", "check", str(file)])
    assert (right.exit_code, right.output) == (0, "counted is right: 1 boxes, 1 outputs\n")
    file.write_text(TEXT.replace("size > 10", "siz > 10"))
    wrong = CliRunner().invoke(app, ["query", "check", str(file), "--json"])
    line = "line 5: box large, where: there is no column siz. Did you mean size?"
    assert (wrong.exit_code, orjson.loads(wrong.output)) == (2, {"problems": [line]})


def test_explain_works_without_a_node(tmp_path: Path) -> None:
    file = tmp_path / "query.yaml"
    file.write_text(TEXT)
    explained = CliRunner().invoke(app, ["query", "explain", str(file)])
    assert explained.exit_code == 0
    assert "counted runs in real-time mode" in explained.output
    assert "It starts with what its topics have kept" in explained.output


def test_figures_are_those_since_the_time_before() -> None:
    before = {"rows": 10, "late": 0, "refused": 0, "delays_ms": [[1, 10]]}
    now = {"rows": 30, "late": 1, "refused": 2, "delays_ms": [[1, 10], [10, 20]]}
    figures = recent(before, now, 2.0)
    assert (figures["rows"], figures["late"], figures["refused"], figures["rows_per_s"]) == (30, 1, 2, 10.0)
    assert (figures["p50_ms"], figures["p99_ms"]) == (9.0, 9.98)
    assert "p50_ms" not in recent(now, now, 2.0)


@settings(deadline=None)
@given(st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any))
def test_a_quantile_lies_between_the_bounds(counts: list[int]) -> None:
    histogram = list(zip([1.0, 10.0, 12.5], counts, strict=True))
    assert 0 <= quantile(histogram, 0.5) <= quantile(histogram, 0.99) <= 12.5


def test_a_missed_objective_begins_and_ends_once() -> None:
    objective = Objective("oslo", "counted", 2, 100)
    delays = [50.0, 150.0, 250.0, None, 80.0, 60.0, 130.0]
    events = [objective.observe(delay, 1000 * place) for place, delay in enumerate(delays)]
    phases = [event["phase"] if event else None for event in events]
    # The first is told in any case: an alert of before a restart may be open.
    assert phases == ["END", "START", None, None, "END", None, "START"]
    ended = Known("oslo").decode(encode(events[4] or {}))
    assert isinstance(ended, Event)
    assert (ended.sensor_id, ended.rule, ended.phase, ended.count) == ("counted", RULE, Phase.END, 2)
    assert (ended.max_transgression, ended.exceeded_for_ms) == (150.0, 3000)


def test_an_event_is_whole() -> None:
    event = Objective("oslo", "counted", 2, 100).observe(200.0, 1000)
    assert event
    content = encode(event)
    assert content[0] == 0
    assert avro.io.BinaryDecoder(io.BytesIO(content[5:])).read_long() == 1000


@pytest.mark.parametrize("where", [[], ["--node"]])
def test_a_file_that_is_not_there_is_refused_before_anything_is_run(tmp_path: Path, where: list[str]) -> None:
    with pytest.raises(InvalidQuery, match="cannot be read"):
        CliRunner().invoke(app, ["query", "run", str(tmp_path / "no.yaml"), *where], catch_exceptions=False)
