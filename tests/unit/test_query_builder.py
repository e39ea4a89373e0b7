"""The Python builder makes the same declarations as YAML does, and they survive being written and read."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catchment.errors import InvalidQuery
from catchment.queries.builder import Query
from catchment.queries.checker import check_text
from catchment.queries.loading import parse_query, to_yaml
from catchment.queries.model import DeployedQuery, QueryDeclaration, duration_ms

SCHEMA = {"time": "timestamp", "host": "string", "bytes": "bigint", "on": "boolean"}
YAML = """
name: busy
objective: {delay_ms: 500}
inputs:
  packets:
    {records: "packets/*", schema: {time: timestamp, host: string, bytes: bigint, on: boolean}, time: time}
tables: {devices: {registry: devices}}
boxes:
  parts: {split: packets, into: {small: bytes < 100}, otherwise: rest}
  both: {union: [parts.small, parts.rest]}
  counts: {aggregate: both, values: {n: count(*)}, by: [host], window: {sliding: 10s, advance: 5s}}
  named: {join: [counts, devices], on: host = id, select: {n: n, name: name}}
  best: {top: named, order_by: n desc, limit: 3}
outputs: {best: {from: best, say: "{name} had {n}"}}
"""


def built() -> Query:
    query = Query("busy", objective={"delay_ms": 500})
    packets = query.records("packets", "packets/*", schema=SCHEMA, time="time")
    devices = query.table("devices", registry="devices")
    parts = packets.split("parts", {"small": "bytes < 100"}, otherwise="rest")
    both = parts.part("small").union("both", parts.part("rest"))
    window = {"sliding": "10s", "advance": "5s"}
    counts = both.aggregate("counts", {"n": "count(*)"}, by=["host"], window=window)
    named = counts.join("named", devices, on="host = id", select={"n": "n", "name": "name"})
    return named.top("best", order_by="n desc", limit=3).output("best", say="{name} had {n}")


def test_the_builder_says_what_yaml_says() -> None:
    assert built().declaration() == parse_query(YAML)[0]
    assert built().check().streams == check_text(YAML).streams


def test_a_declaration_survives_yaml_and_the_topic() -> None:
    query = built().declaration()
    assert parse_query(to_yaml(query))[0] == query
    kept = DeployedQuery(site="oslo", id="busy", version=1, updated_ms=1, **query.spec.model_dump())
    assert DeployedQuery.model_validate_json(kept.model_dump_json()).declaration == query


def test_the_builder_refuses_as_yaml_does() -> None:
    query = Query("busy")
    query.records("packets", "*", format="text").filter("x", "txt = 'a'").output("out")
    with pytest.raises(InvalidQuery, match="Did you mean text"):
        query.check()


@given(st.integers(1, 999_999_999), st.sampled_from(["ms", "s", "m", "h", "d"]))
def test_a_duration_is_a_number_and_a_unit(number: int, unit: str) -> None:
    factor = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}[unit]
    assert duration_ms(f"{number}{unit}") == number * factor


@settings(deadline=None)
@given(
    name=st.from_regex(r"[a-z0-9][a-z0-9-]{0,62}", fullmatch=True),
    where=st.sampled_from(["site", "centre", "both"]),
    text=st.text(st.characters(exclude_categories=["C"]), max_size=50),
)
def test_any_declaration_round_trips(name: str, where: str, text: str) -> None:
    inputs = {"i": {"records": "*", "format": "text"}}
    values = {"name": name, "where": where, "about": text, "inputs": inputs}
    query = QueryDeclaration.model_validate({**values, "outputs": {"o": {"from": "i", "say": text}}})
    assert parse_query(to_yaml(query))[0] == query
