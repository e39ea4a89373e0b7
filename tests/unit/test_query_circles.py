"""A query that reads what it writes, through whatever others, is found out."""

import pytest

from catchment.errors import InvalidQuery
from catchment.queries.checker import check_text
from catchment.queries.circles import circle
from catchment.queries.loading import parse_query
from catchment.queries.model import QuerySpec


def reading(inputs: str, output: str = "{from: i}") -> QuerySpec:
    query, _ = parse_query(f"name: q\ninputs: {{i: {inputs}}}\noutputs: {{o: {output}}}")
    return query.spec


RECORDS = "{records: '*', format: text}"
TELLS = "{from: i, to: alerts, say: x}"
ROOMS = "{from: i, to: twins, type: room, object: id}"


@pytest.mark.parametrize(
    ("queries", "found"),
    [
        ({"a": reading("{results: a/o}")}, ["a"]),
        ({"a": reading("{results: b/o}"), "b": reading("{results: c/o}"), "c": reading(RECORDS)}, None),
        (
            {"a": reading("{results: b/o}"), "b": reading("{results: c/o}"), "c": reading("{results: a/o}")},
            ["a", "b", "c"],
        ),
        ({"a": reading("{alerts: true}", TELLS)}, ["a"]),
        ({"a": reading("{events: TwinNotice}", TELLS)}, ["a"]),
        ({"a": reading("{events: TemperatureThresholdExceeded}", TELLS)}, None),
        ({"a": reading("{twin-history: room}", ROOMS)}, ["a"]),
        ({"a": reading("{twin-history: hall}", ROOMS)}, None),
        ({"a": reading("{twin-history: room}", TELLS), "b": reading("{alerts: true}", ROOMS)}, ["a", "b"]),
        # A circle of others is theirs.
        ({"a": reading("{results: b/o}"), "b": reading("{results: b/o}")}, None),
    ],
)
def test_a_circle_is_found_through_results_alerts_and_twins(
    queries: dict[str, QuerySpec], found: list[str] | None
) -> None:
    assert circle(queries, "a") == found


def test_a_query_that_feeds_itself_is_refused_without_a_node() -> None:
    text = f"name: q\ninputs: {{i: {{alerts: true}}}}\noutputs: {{o: {TELLS}}}"
    with pytest.raises(InvalidQuery) as refused:
        check_text(text)
    assert refused.value.problems == [
        "line 2: inputs: the query reads what it writes. Read another stream, or write elsewhere."
    ]
