"""Queries tried out on small tables before they are deployed."""

import threading
from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field, StringConstraints

from catchment.api.access import allowed
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.errors import Conflict
from catchment.lake.answers import plain
from catchment.queries.graph import Graph
from catchment.queries.tables import Row, differences, told_expected, told_rows
from catchment.queries.trial_process import outputs_of
from catchment.security.tokens import Scope

router = APIRouter(prefix="/api/v1/queries", tags=["queries"])

TIMEOUT_S = 60.0
MOST_ROWS = 1_000
# Each starts Spark, which wants a core and half a gigabyte for some seconds.
_ONE_AT_A_TIME = threading.Lock()

_Rows = Annotated[str, StringConstraints(max_length=60_000)]


class QueryTest(BaseModel):
    """A query, and rows to try it with: as CSV whose first line names columns, or as JSON."""

    yaml: str = Field(max_length=60_000, description="The declaration in YAML.")
    inputs: dict[str, _Rows] = Field(description="Rows of every input, by its name.")
    tables: dict[str, _Rows] = Field(default_factory=dict, description="Rows of every table, by its name.")
    expected: dict[str, _Rows] = Field(
        default_factory=dict, description="Rows that outputs have to be, in any order; of any columns."
    )

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "yaml": "name: hot\ninputs:\n  readings: {measurements: TemperatureData}\nboxes:\n"
                    "  hot: {filter: readings, where: temperature > 30}\noutputs:\n  hot: {from: hot}\n",
                    "inputs": {"readings": "sensor_id,temperature\noven,240\nhall,21\n"},
                    "expected": {"hot": "sensor_id\noven\n"},
                }
            ]
        }
    }


class TestedOutput(BaseModel):
    """What came out of one output."""

    name: str
    columns: list[str]
    rows: list[list[Any]] = Field(description=f"At most the first {MOST_ROWS:,}.")
    count: int = Field(description="How many rows there are.")
    differences: list[str] | None = Field(
        description="What is missing and what is too much; null if nothing was expected of it."
    )


class QueryTested(BaseModel):
    """What a query makes of small tables."""

    passed: bool | None = Field(description="Whether all is as expected; null if nothing was expected.")
    outputs: list[TestedOutput]


@router.post(
    "/test",
    dependencies=[Depends(allowed(Scope.QUERIES_WRITE))],
    responses=answers(401, 403, 408, 409, 422, 503),
    summary="Try a query on small tables",
    description="With the operators that it would run with, in a process of its own: some seconds. One test "
    f"runs at a time, for {TIMEOUT_S:g} s at most. Needs the scope `queries:write`.",
)
def test_query(services: ServicesOfApp, test: QueryTest) -> QueryTested:
    graph = services.queries.check_text(test.yaml)
    rows, expected = told_rows(graph, test.inputs, test.tables), told_expected(graph, test.expected)
    if not _ONE_AT_A_TIME.acquire(blocking=False):
        raise Conflict("Another query is being tested", "Ask again in a moment.")
    try:
        found = outputs_of(graph, rows, TIMEOUT_S)
    finally:
        _ONE_AT_A_TIME.release()
    outputs = [_tested(graph, name, those, expected.get(name)) for name, those in found.items()]
    passed = all(not each.differences for each in outputs) if expected else None
    return QueryTested(passed=passed, outputs=outputs)


def _tested(graph: Graph, name: str, rows: list[Row], expected: list[Row] | None) -> TestedOutput:
    columns = list(rows[0] if rows else graph.streams[graph.query.outputs[name].source].columns)
    return TestedOutput(
        name=name,
        columns=columns,
        rows=[[plain(row[column]) for column in columns] for row in rows[:MOST_ROWS]],
        count=len(rows),
        differences=None if expected is None else differences(expected, rows),
    )
