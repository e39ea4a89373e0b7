"""What a query will do, in words and figures, before it is deployed."""

from typing import Literal

from pydantic import BaseModel, Field

from catchment.queries.graph import Graph
from catchment.queries.signature import changed

# There is no other mode. What Spark's own lacks in it (joins of streams, sessions, count windows, top-N) are
# operators of ours, as all boxes with state are; a table of the lake is read when the query starts.
REAL_TIME: Literal["real-time"] = "real-time"
WHY = "every box of the language can run so; those that Spark cannot are operators of Catchment"


class ExplainedStream(BaseModel):
    """What flows on one arrow."""

    name: str
    giver: str = Field(description="The input or box that it comes from.")
    what: str = Field(description="`input`, or the kind of the box.")
    columns: dict[str, str]
    time: str | None = Field(description="The column with the time of the event.")
    updating: bool = Field(description="Whether rows can be replaced or withdrawn later.")
    stage: int = Field(description="How many boxes with state are before it, one after the other.")


class Explanation(BaseModel):
    """How a query runs."""

    name: str
    mode: Literal["real-time"] = Field(description="Every query runs in real-time mode.")
    why: str = Field(description="Why it can.")
    stateful: list[str] = Field(description="The boxes that keep state.")
    tasks: int = Field(description="Tasks that share the groups of each stage of such boxes.")
    streams: list[ExplainedStream]
    state: str = Field(description="`new`, `kept`, or `anew`: what becomes of the state of the deployed one.")
    changes: list[str] = Field(description="Why the state cannot be kept.")


def explain(graph: Graph, deployed: Graph | None = None) -> Explanation:
    """How a query runs, and what becomes of the state of the one that is deployed under its name."""
    changes = changed(deployed, graph) if deployed else []
    return Explanation(
        name=graph.name,
        mode=REAL_TIME,
        why=WHY,
        stateful=list(graph.stateful),
        tasks=graph.tasks,
        streams=[_stream(graph, name) for name in graph.streams],
        state="new" if deployed is None else "anew" if changes else "kept",
        changes=changes,
    )


def stage_of(graph: Graph, stream: str) -> int:
    """How many boxes with state rows of a stream have come through, at most."""
    giver = graph.query.streams()[stream]
    box = graph.query.boxes.get(giver)
    if box is None:
        return 0
    before = [stage_of(graph, source) for source in box.sources if source in graph.streams]
    return max(before) + box.stateful


def _stream(graph: Graph, name: str) -> ExplainedStream:
    stream = graph.streams[name]
    box = graph.query.boxes.get(stream.giver)
    return ExplainedStream(
        name=name,
        giver=stream.giver,
        what=box.kind if box else "input",
        columns=stream.columns,
        time=stream.time,
        updating=stream.updating,
        stage=stage_of(graph, name),
    )
