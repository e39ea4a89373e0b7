"""Joins: pairs of rows of two streams that are near in time."""

from collections.abc import Mapping
from typing import Any

from catchment.queries.frames.changes import Columns, Scope, Taken, constant, wide
from catchment.queries.frames.stages import Port, StatefulBox, shard_of
from catchment.queries.graph import Graph
from catchment.queries.model import Join

_LEFT, _RIGHT = 0, 1


def join_box(graph: Graph, name: str, edges: tuple[str, str], left: Scope, right: Scope) -> StatefulBox:
    """A join of two streams. It gives all columns of both, of which `selected` takes what is wanted."""
    box, plan = graph.query.boxes[name], graph.joins[name]
    assert isinstance(box, Join)
    ports = []
    for side, scope, time in ((_LEFT, left, plan.left_time), (_RIGHT, right, plan.right_time)):
        assert time
        keys = [_key(scope, pair[side]) for pair in plan.on]
        own = {"_side": constant(side, "int"), "_time_us": scope.taken(time)}
        own |= {f"_key_{number}": key for number, key in enumerate(keys)}
        own |= _payload("left", left, present=side == _LEFT) | _payload(
            "right", right, present=side == _RIGHT
        )
        ports.append(Port(edges[side], shard_of(*(key.column for key in keys)), own))

    def spec(at: Mapping[str, int]) -> dict[str, Any]:
        updating = [graph.streams[stream].updating for stream in box.sources]
        sides = {"lefts_update": updating[0], "rights_update": updating[1]}
        return _spec(box, at, len(plan.on), len(left.types), len(right.types)) | sides

    return StatefulBox(name, ports, spec, both_sides(left.types, right.types))


def _key(scope: Scope, expression: str) -> Taken:
    """What has to be the same on both sides; operators know times as numbers."""
    return scope.computed(expression, expression.rpartition(" AS ")[2].rstrip(")"))


def both_sides(left: Columns, right: Columns) -> dict[str, str]:
    """The columns that a join gives before what is wanted of them is selected."""
    lefts = {f"left_{column}": kind for column, kind in left.items()}
    return lefts | {f"right_{column}": kind for column, kind in right.items()}


def pair_scope(name: str, left: Columns, right: Columns) -> Scope:
    """Where what a join selects from is found: `left.COLUMN` and `right.COLUMN`."""
    sides = (("left", left), ("right", right))
    return Scope(
        {f"{side}.{column}": wide(name, f"{side}_{column}") for side, columns in sides for column in columns},
        {f"{side}.{column}": kind for side, columns in sides for column, kind in columns.items()},
    )


def _payload(side: str, scope: Scope, *, present: bool) -> dict[str, Taken]:
    return {
        f"{side}_{column}": scope.taken(column) if present else constant(None, kind)
        for column, kind in scope.types.items()
    }


def _spec(box: Join, at: Mapping[str, int], keys: int, lefts: int, rights: int) -> dict[str, Any]:
    """What jvm/src/catchment/queries/JoinSpec.java reads."""
    first_key = at["_time_us"] + 1
    return {
        "kind": "join",
        "side_column": at["_side"],
        "time_column": at["_time_us"],
        "first_key": first_key,
        "keys": keys,
        "first_left": first_key + keys,
        "lefts": lefts,
        "first_right": first_key + keys + lefts,
        "rights": rights,
        "within_us": 1000 * box.within_ms,
        "outer": box.kind_of_join == "left",
        "keep_ms": box.keep_ms,
        "told": [
            {"name": name, "column": place, "is_time": name == "_time_us"}
            for name, place in at.items()
            if name != "_side"
        ],
    }
