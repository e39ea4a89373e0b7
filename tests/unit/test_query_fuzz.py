"""Whatever is declared, a query is either right, with columns for every stream, or refused in lines."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from catchment.errors import InvalidQuery
from catchment.queries.checker import check
from catchment.queries.explain import explain
from catchment.queries.loading import validate
from catchment.queries.signature import signature
from catchment.queries.trace import trace

streams = st.sampled_from(["i", "j", "t", "a", "b", "c", "a.p", "b.late", "nothing"])
columns = st.sampled_from(["time", "host", "n", "origin", "window_start", "rank", "nothing"])
expressions = st.sampled_from(
    [
        "n > 1",
        "host",
        "n + 1",
        "count(*)",
        "sum(n)",
        "split(host, ',')",
        "i.n",
        "a.host = b.host",
        "host = id",
        "(",
    ]
)
durations = st.sampled_from(["1s", "10s", "500ms", "never"])
windows = st.one_of(
    st.none(),
    st.fixed_dictionaries({"tumbling": durations}),
    st.fixed_dictionaries({"sliding": durations, "advance": durations}),
    st.fixed_dictionaries({"session": durations}),
    st.fixed_dictionaries({"count": st.integers(0, 5)}, optional={"advance": st.integers(0, 9)}),
)


def box(required: dict[str, Any], **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(required, optional=optional)


named = st.dictionaries(columns, expressions, min_size=1, max_size=2)
boxes = st.one_of(
    box({"filter": streams, "where": expressions}),
    box({"map": streams}, select=named, each=named),
    box({"split": streams, "into": st.fixed_dictionaries({"p": expressions})}, otherwise=st.just("rest")),
    box({"union": st.lists(streams, min_size=2, max_size=3)}),
    box(
        {"aggregate": streams, "values": named, "window": windows},
        by=st.lists(columns, max_size=2),
        emit=st.sampled_from(["updates", "final"]),
        late=st.sampled_from(["revise", "side", "deadletter"]),
        time=columns,
    ),
    box({"top": streams, "order_by": columns, "limit": st.integers(0, 3)}, by=st.lists(columns, max_size=1)),
    box(
        {"join": st.lists(streams, min_size=2, max_size=2), "on": expressions},
        within=durations,
        select=named,
        kind=st.sampled_from(["inner", "left"]),
        time=st.one_of(columns, st.lists(columns, max_size=3)),
    ),
)
SCHEMA = {"time": "timestamp", "host": "string", "n": "bigint"}
INPUTS = {
    "i": {"records": "*", "schema": SCHEMA, "time": "time"},
    "j": {"results": "p/o", "schema": SCHEMA},
}


def declared(boxes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A query of these boxes in which nothing is unused."""
    parts = {name: f"{name}.p" if "split" in each else name for name, each in boxes.items()}
    used = (
        {"t": {"registry": "devices"}} if any("t" in each.get("join", ()) for each in boxes.values()) else {}
    )
    outputs = {name: {"from": stream} for name, stream in {**parts, "i": "i", "j": "j"}.items()}
    return {"name": "q", "inputs": INPUTS, "tables": used, "boxes": boxes, "outputs": outputs}


queries = st.dictionaries(st.sampled_from(["a", "b", "c"]), boxes, max_size=3).map(declared)


@settings(max_examples=400, deadline=None)
@given(queries)
def test_any_declaration_is_right_or_refused_in_lines(values: dict[str, Any]) -> None:
    refused = None
    try:
        graph = check(validate(values))
    except InvalidQuery as error:
        refused = error
    if refused:
        assert refused.problems
        assert all("\n" not in line and ". " in line for line in refused.problems), refused.problems
        return
    assert set(graph.streams) == set(graph.query.streams())
    assert all(stream.columns for stream in graph.streams.values())
    assert len(explain(graph, graph).streams) == len(graph.streams)
    assert signature(graph)
    assert trace(graph, {}, "running").stages
