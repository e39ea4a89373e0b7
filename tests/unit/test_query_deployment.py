"""What a deployed query keeps when it changes, how it is explained, and how a delay is traced to a stage."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catchment.config import Config, Role
from catchment.pipeline.deployed import slots_of
from catchment.queries.checker import check_text
from catchment.queries.deployment import runs_at
from catchment.queries.explain import explain
from catchment.queries.expressions import check
from catchment.queries.graph import Graph
from catchment.queries.signature import changed, signature
from catchment.queries.syntax import WrongExpression
from catchment.queries.trace import trace

QUERY = """
name: counted
inputs: {packets: {records: "*", schema: {time: timestamp, host: string, bytes: bigint}, time: time}}
boxes:
  large: {filter: packets, where: bytes > 10}
  counts: {aggregate: large, by: [host], window: {tumbling: 10s}, values: {n: count(*)}}
  many: {filter: counts, where: n > 3}
outputs: {many: {from: many}}
objective: {delay_ms: 100}
"""


def graph(old: str = "", new: str = "") -> Graph:
    assert old in QUERY
    return check_text(QUERY.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("n > 3", "n > 4"),
        ("delay_ms: 100", "delay_ms: 200"),
        ("outputs: {many: {from: many}}", "outputs: {few: {from: many, say: '{host}'}}"),
    ],
)
def test_what_comes_after_the_state_may_change(old: str, new: str) -> None:
    assert signature(graph(old, new)) == signature(graph())
    assert explain(graph(old, new), graph()).state == "kept"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("tumbling: 10s", "tumbling: 20s", "box counts differs"),
        ("bytes > 10", "bytes > 11", "box large differs"),
        ('records: "*"', 'records: "a*"', "input packets differs"),
        ("{n: count(*)}", "{n: sum(bytes)}", "box counts differs"),
    ],
)
def test_what_the_state_came_from_may_not(old: str, new: str, reason: str) -> None:
    explained = explain(graph(old, new), graph())
    assert explained.state == "anew"
    assert explained.changes == [reason]


def test_another_output_keeps_the_state_and_another_box_with_state_does_not() -> None:
    outputs = "outputs: {many: {from: many}, counts: {from: counts}}"
    assert explain(graph("outputs: {many: {from: many}}", outputs), graph()).state == "kept"
    ranked = QUERY.replace("boxes:", "boxes:\n  best: {top: counts, order_by: n desc, limit: 1}")
    more = check_text(ranked.replace("outputs: {", "outputs: {best: {from: best}, "))
    assert changed(graph(), more) == ["box best is new"]


def test_stages_count_boxes_with_state_one_after_the_other() -> None:
    stages = {stream.name: stream.stage for stream in explain(graph()).streams}
    assert stages == {"packets": 0, "large": 0, "counts": 1, "many": 1}


def test_every_box_runs_in_real_time_mode_in_as_many_tasks_as_the_query_says() -> None:
    explained = explain(graph())
    assert (explained.mode, explained.tasks) == ("real-time", 1)
    more = graph("name: counted", "name: counted\nparallelism: 3")
    assert explain(more).tasks == 3
    assert changed(graph(), more) == ["parallelism differs"]
    # One reads, and all stages are one task, or each of the two is divided.
    assert (slots_of(graph(), Config()), slots_of(more, Config())) == (1 + 1, 1 + 2 * 3)


def test_a_delay_is_traced_to_the_stage_that_adds_most_and_losses_to_those_that_lose() -> None:
    figures = {
        "packets": {"rows": 100, "p50_ms": 4.0, "refused": 2},
        "large": {"rows": 60, "p50_ms": 4.5},
        "counts": {"rows": 50, "p50_ms": 180.0, "late": 1},
        "many": {"rows": 9, "p50_ms": 181.0},
        "output many": {"rows": 9, "p50_ms": 183.0, "p99_ms": 400.0},
    }
    traced = trace(graph(), figures, "running")
    assert (traced.slowest, traced.losing) == ("counts", ["packets", "counts"])
    assert (traced.delay_ms, traced.met) == (183.0, False)
    assert [stage.own_ms for stage in traced.stages] == [4.0, 0.5, 175.5, 1.0, 2.0]


def test_without_figures_nothing_is_blamed() -> None:
    traced = trace(graph(), {}, "starting")
    assert (traced.slowest, traced.met, traced.delay_ms) == (None, None, None)


@pytest.mark.parametrize(
    ("where", "roles"),
    [
        ("site", {Role.SITE, Role.BOTH}),
        ("centre", {Role.CENTRE, Role.BOTH}),
        ("both", set(Role)),
    ],
)
def test_a_query_runs_where_it_says(where: str, roles: set[Role]) -> None:
    query = graph("name: counted", f"name: counted\nwhere: {where}").query
    assert {role for role in Role if runs_at(query, role)} == roles


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_an_expression_or_is_refused(text: str) -> None:
    with suppress(WrongExpression):
        assert check(text, {"a": "bigint", "b": "string"}).type
