"""The first rows of each group, in an order."""

from collections.abc import Mapping
from typing import Any

from catchment.queries.frames.aggregates import gives_newest, only_replaced
from catchment.queries.frames.changes import Scope
from catchment.queries.frames.stages import Port, StatefulBox, shard_of
from catchment.queries.graph import Graph
from catchment.queries.model import Aggregate, Top

_OF_WINDOWS = {"window_start", "window_end"}


def top_box(graph: Graph, name: str, edge: str, source: Scope, *, live: bool) -> StatefulBox:
    """The first rows of each group, each with its rank."""
    box = graph.query.boxes[name]
    assert isinstance(box, Top)
    own = {f"_group_{column}": source.taken(column) for column in box.by}
    own |= {column: source.taken(column) for column in source.types}
    names = list(source.types)

    def spec(at: Mapping[str, int]) -> dict[str, Any]:
        return {
            "kind": "top",
            "first_group": at[names[0]] - len(box.by),
            "groups": len(box.by),
            "first_column": at[names[0]],
            "columns": len(names),
            "orders": [
                {"column": names.index(each.column), "descending": each.descending}
                for each in graph.orders[name]
            ],
            "limit": box.limit,
            "append_only": not graph.source(name).updating,
            "upserts": live and only_replaced(graph, name),
            "replaces": live and _is_given_newest(graph, box),
            "keep_ms": _keep_ms(graph, box),
        }

    shard = shard_of(*(source.column(column) for column in box.by))
    return StatefulBox(name, [Port(edge, shard, own)], spec, graph.streams[name].columns)


def _is_given_newest(graph: Graph, box: Top) -> bool:
    source = box.sources[0]
    return isinstance(graph.query.boxes.get(source), Aggregate) and gives_newest(graph, source)


def _keep_ms(graph: Graph, box: Top) -> int:
    """For how long a group without changes is kept: windows are given up some day, other groups never."""
    if not _OF_WINDOWS.intersection(box.by):
        return 0
    kept = [
        each.keep_ms for each in graph.query.boxes.values() if isinstance(each, Aggregate) and each.window
    ]
    return 2 * max(kept, default=0)
