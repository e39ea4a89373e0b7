"""Which queries a node runs."""

import pytest
from pydantic import ValidationError

from catchment.pipeline.queries import queries
from tests.conftest import MakeConfig

STORE = {"postgres": {"main": {"url": "postgresql://writer@db.example.org/plant"}}}


def test_the_names_that_can_be_set_are_those_that_there_are(make_config: MakeConfig) -> None:
    config = make_config(store=STORE)
    assert tuple(query.name for query in queries(config)) == config.query_names
    assert "lake" in config.query_names
    assert "postgres-main" in config.query_names


def test_a_node_runs_only_the_queries_that_are_named(make_config: MakeConfig) -> None:
    config = make_config(pipeline={"queries": ["thresholds", "ledger"]})
    assert [query.name for query in queries(config)] == ["ledger", "thresholds"]


@pytest.mark.parametrize(
    ("sections", "wrong"),
    [
        ({"pipeline": {"queries": ["leger"]}}, "leger"),
        ({"pipeline": {"queries": ["lake"]}, "lake": {"enabled": False}}, "lake"),
        ({"pipeline": {"queries": ["postgres-main"]}}, "postgres-main"),
    ],
)
def test_a_query_that_the_node_does_not_have_is_refused(
    make_config: MakeConfig, sections: dict[str, dict[str, object]], wrong: str
) -> None:
    with pytest.raises(ValidationError, match=f"pipeline.queries names {wrong}: there are ledger, "):
        make_config(**sections)
