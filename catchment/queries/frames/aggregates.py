"""Aggregates: counts, sums and the like over windows of rows, for each group."""

from collections.abc import Collection, Mapping
from typing import Any

from catchment.queries.frames.changes import Scope, Taken, constant
from catchment.queries.frames.stages import Port, StatefulBox, shard_of
from catchment.queries.graph import Graph
from catchment.queries.model import Aggregate, Emit, Late, Top, WindowKind

_KINDS = {WindowKind.SESSION: "sessions", WindowKind.COUNT: "counts"}
_WHOLE = ("int", "bigint")
_BY_ROW = ("first", "last")


def aggregate_box(
    graph: Graph, name: str, edge: str, source: Scope, *, live: bool, late_keys: str | None
) -> StatefulBox:
    """An aggregate; late rows go to an output if `late_keys` says how its keys begin."""
    box = graph.query.boxes[name]
    assert isinstance(box, Aggregate)
    groups = [source.column(column) for column in box.by]
    own = _own_columns(graph, name, box, source, tells_all=box.late is not Late.REVISE)

    def spec(at: Mapping[str, int]) -> dict[str, Any]:
        return _spec(graph, name, box, at, live=live) | {"late_keys": late_keys}

    port = Port(edge, shard_of(*groups), own)
    return StatefulBox(name, [port], spec, graph.streams[name].columns, _needs_ids(graph, name, box))


def _needs_ids(graph: Graph, name: str, box: Aggregate) -> bool:
    keeps_rows = box.window is not None and box.window.kind in _KINDS
    by_row = any(value.function in _BY_ROW for value in graph.aggregates[name])
    return keeps_rows or by_row or box.late is not Late.REVISE


def _own_columns(
    graph: Graph, name: str, box: Aggregate, source: Scope, *, tells_all: bool
) -> dict[str, Taken]:
    time = graph.times.get(name)
    own = {"_time_us": source.taken(time) if time else constant(None, "bigint")}
    own |= {f"_group_{column}": source.taken(column) for column in box.by}
    for value in graph.aggregates[name]:
        if value.argument is not None and value.argument_type is not None:
            own[f"_of_{value.name}"] = source.computed(value.argument, value.argument_type)
    if tells_all:
        own |= {f"_told_{column}": source.taken(column) for column in source.types}
    return own


def _spec(graph: Graph, name: str, box: Aggregate, at: Mapping[str, int], *, live: bool) -> dict[str, Any]:
    """What jvm/src/catchment/queries/AggregateSpec.java reads."""
    kind = box.window.kind if box.window else None
    has_length = kind is not None and kind is not WindowKind.COUNT
    return {
        "kind": _KINDS.get(kind, "windows") if kind else "windows",
        "time_column": at["_time_us"],
        "first_group": at["_time_us"] + 1,
        "groups": len(box.by),
        "functions": _functions(graph, name, at),
        "size_us": 1000 * box.window.size_ms if box.window and has_length else 0,
        "advance_us": 1000 * box.window.advance_ms if box.window and has_length else 0,
        "rows": box.window.count or 0 if box.window else 0,
        "advance_rows": box.window.advance_rows if box.window else 0,
        "windowed": box.window is not None,
        "final": live and box.emit is Emit.FINAL,
        "sets_late_aside": live and box.late is not Late.REVISE,
        "append_only": not graph.source(name).updating,
        "upserts": live and gives_newest(graph, name),
        "lateness_us": 1000 * box.lateness_ms,
        "idle_ms": box.idle_ms,
        "keep_ms": box.keep_ms,
        "told": _told(graph, name, at),
    }


def _functions(graph: Graph, name: str, at: Mapping[str, int]) -> list[dict[str, Any]]:
    return [
        {
            "name": value.function,
            "column": at.get(f"_of_{value.name}", -1),
            "whole": value.argument_type in _WHOLE,
        }
        for value in graph.aggregates[name]
    ]


def _told(graph: Graph, name: str, at: Mapping[str, int]) -> list[dict[str, Any]]:
    """The columns that are told of a row which does not count: all, or those that the box needs."""
    columns = graph.source(name).columns
    tells_all = any(each.startswith("_told_") for each in at)
    prefixes = ("_told_",) if tells_all else ("_group_", "_of_")
    told = [
        {"name": own, "column": place, "is_time": "timestamp" in columns.get(own, "")}
        for each, place in at.items()
        for prefix in prefixes
        if each.startswith(prefix) and (own := each.removeprefix(prefix))
    ]
    time = {"name": "time", "column": at["_time_us"], "is_time": True}
    return told if tells_all else [time, *told]


def gives_newest(graph: Graph, name: str) -> bool:
    """Whether a row of an aggregate replaces the one before it, which then need not be withdrawn."""
    return only_replaced(
        graph, name, {each for each in graph.query.readers(name) if _replaces(graph, each, name)}
    )


def _replaces(graph: Graph, reader: str, name: str) -> bool:
    """Whether a reader finds the row before by its id: a top does, if both are of the same group."""
    box, source = graph.query.boxes[reader], graph.query.boxes[name]
    assert isinstance(source, Aggregate)
    in_windows = source.window is None or source.window.kind not in _KINDS
    of_group = {*source.by, "window_start", "window_end"}
    return isinstance(box, Top) and in_windows and of_group.issuperset(box.by)


def only_replaced(graph: Graph, stream: str, replacing: Collection[str] = ()) -> bool:
    """Whether who reads a stream needs only the newest row of each id: all do, up to the outputs."""
    for reader in graph.query.readers(stream):
        if reader in replacing:
            continue
        box = graph.query.boxes[reader]
        plain = box.kind == "union" or (box.kind == "map" and not getattr(box, "each", None))
        if not plain or not only_replaced(graph, reader):
            return False
    return True
