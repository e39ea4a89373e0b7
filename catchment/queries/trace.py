"""Where a query's time and rows go: from the figures of its boxes to the one that is to blame."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from catchment.queries.graph import Graph

# A stage that adds less than this is not worth blaming.
LEAST_MS = 1.0


class Stage(BaseModel):
    """One input, box or output."""

    name: str
    rows: int = Field(description="Rows that left it.")
    late: int = 0
    refused: int = 0
    delay_ms: float | None = Field(None, description="Median from a record's origin to here.")
    p99_ms: float | None = None
    own_ms: float | None = Field(None, description="What it added to the delay of what it reads.")


class Trace(BaseModel):
    """A query while it runs, stage by stage."""

    name: str
    state: str
    detail: str = ""
    delay_ms: float | None = Field(None, description="Median delay of its slowest output.")
    objective_ms: int | None = None
    met: bool | None = Field(None, description="Whether the objective is met; null without one or figures.")
    stages: list[Stage]
    slowest: str | None = Field(None, description="The stage that adds most to the delay.")
    losing: list[str] = Field(
        default_factory=list, description="Stages that refused rows or found them late."
    )


def trace(graph: Graph, figures: Mapping[str, Mapping[str, Any]], state: str, detail: str = "") -> Trace:
    """Reads the figures of each stage (`rows`, `late`, `refused`, `p50_ms`, `p99_ms`) along the arrows."""
    stages: dict[str, Stage] = {}
    for name, sources in _in_order(graph):
        before = [stages[source].delay_ms for source in sources if source in stages]
        stages[name] = _stage(name, figures.get(name, {}), [each for each in before if each is not None])
    delays = [stages[name].delay_ms for name in stages if name.startswith("output ")]
    delay_ms = max((each for each in delays if each is not None), default=None)
    objective_ms = graph.query.objective.delay_ms if graph.query.objective else None
    blamed = max(stages.values(), key=lambda stage: stage.own_ms or 0.0)
    return Trace(
        name=graph.name,
        state=state,
        detail=detail,
        delay_ms=delay_ms,
        objective_ms=objective_ms,
        met=None if objective_ms is None or delay_ms is None else delay_ms <= objective_ms,
        stages=list(stages.values()),
        slowest=blamed.name if (blamed.own_ms or 0.0) >= LEAST_MS else None,
        losing=[stage.name for stage in stages.values() if stage.late or stage.refused],
    )


def _in_order(graph: Graph) -> list[tuple[str, list[str]]]:
    query, givers = graph.query, graph.query.streams()
    inputs: list[tuple[str, list[str]]] = [(name, []) for name in query.inputs]
    boxes = [
        (name, [givers[source] for source in box.sources if source in givers]) for name, box in graph.boxes()
    ]
    outputs = [(f"output {name}", [givers[output.source]]) for name, output in query.outputs.items()]
    return [*inputs, *boxes, *outputs]


def _stage(name: str, figures: Mapping[str, Any], before: list[float]) -> Stage:
    delay_ms = figures.get("p50_ms")
    own_ms = None if delay_ms is None else round(max(0.0, delay_ms - max(before, default=0.0)), 1)
    return Stage(
        name=name,
        rows=figures.get("rows", 0),
        late=figures.get("late", 0),
        refused=figures.get("refused", 0),
        delay_ms=delay_ms,
        p99_ms=figures.get("p99_ms"),
        own_ms=own_ms,
    )
