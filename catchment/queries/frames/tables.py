"""Joins with tables that people declare, as they are when a row comes, or with one that was given."""

import time
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.errors import ConfigurationError
from catchment.pipeline.control import Declarations
from catchment.queries.frames.changes import Scope, Taken, constant, on, wide, with_columns
from catchment.queries.frames.joins import both_sides
from catchment.queries.frames.stages import Port, StatefulBox, shard_of
from catchment.queries.graph import Graph
from catchment.queries.model import Join, Table
from catchment.records import Kind

_REGISTRIES = {"devices": Kind.DEVICES, "sensors": Kind.SENSORS, "sensor-types": Kind.SENSOR_TYPES}


def kind_of(table: Table) -> Kind | None:
    """The topic that the rows of a table are declared on; None if it is one of the lake."""
    if table.registry:
        return _REGISTRIES[table.registry]
    return Kind.TWINS if table.twins else None


def table_edge(name: str) -> str:
    """The edge that entries of the table of a join come on."""
    return f">{name}/table"


def table_box(graph: Graph, name: str, edge: str, source: Scope, declared: Declarations) -> StatefulBox:
    """A join of a stream with a table on a compacted topic."""
    box, plan = graph.query.boxes[name], graph.joins[name]
    assert isinstance(box, Join)
    table, stored = graph.query.tables[plan.right], graph.tables[plan.right]
    keys = [source.computed(ours, "string") for ours, _ in plan.on]
    own = {"_number": constant(None, "bigint"), "_entry": constant(None, "binary")}
    own |= {f"_key_{number}": key for number, key in enumerate(keys)}
    own |= {column: source.taken(column) for column in source.types}
    entry = {name: Taken(F.col(name)) for name in ("_number", "_entry")}
    entry |= {f"_key_{number}": Taken(F.lit(None)) for number in range(len(keys))}
    entry |= {column: constant(None, kind) for column, kind in source.types.items()}
    names = list(stored.columns)
    on_columns = [_place(name, theirs, names) for _, theirs in plan.on]

    def spec(at: Mapping[str, int]) -> dict[str, Any]:
        return {
            "kind": "table",
            "offset_column": at["_number"],
            "entry_column": at["_entry"],
            "first_key": at["_entry"] + 1,
            "on": on_columns,
            "first_left": at["_entry"] + 1 + len(keys),
            "lefts": len(source.types),
            "names": names,
            "types": list(stored.columns.values()),
            "type": table.twins,
            "outer": box.kind_of_join == "left",
            "generation": time.time_ns(),
            "at_start": _at_start(kind_of(table), declared),
        }

    shard = shard_of(*(key.column for key in keys))
    ports = [Port(edge, shard, own), Port(table_edge(name), F.lit(0), entry, to_all_shards=True)]
    return StatefulBox(name, ports, spec, both_sides(source.types, stored.columns))


def _at_start(kind: Kind | None, declared: Declarations) -> dict[str, tuple[int, str]]:
    return {
        each.key.decode(errors="replace"): (each.offset, each.value.decode(errors="replace"))
        for each in declared.newest
        if each.kind is kind
    }


def _place(box: str, column: str, names: list[str]) -> int:
    if column not in names:
        raise ConfigurationError(
            f"Box {box} joins on {column}, which is no column of the table",
            "Join on a column of the table, and compute on the side of the stream.",
        )
    return names.index(column)


def looked_up(
    rows: DataFrame, graph: Graph, name: str, edge: str, source: Scope, table: DataFrame
) -> DataFrame:
    """Rows of an edge with those of a table that does not change while the query runs."""
    box, plan = graph.query.boxes[name], graph.joins[name]
    assert isinstance(box, Join)
    stored = graph.tables[plan.right]
    matched = wide(name, "matched")
    right = table.select(
        *(
            F.col(column).cast(kind).alias(wide(name, f"right_{column}"))
            for column, kind in stored.columns.items()
        ),
        F.col(stored.key).cast("string").alias(matched),
        *(F.expr(theirs).alias(wide(name, f"on_{number}")) for number, (_, theirs) in enumerate(plan.on)),
    )
    equal = on(edge)
    for number, (ours, _) in enumerate(plan.on):
        equal = equal & (source.expression(ours) == F.col(wide(name, f"on_{number}")))
    pairs = rows.join(F.broadcast(right), on=equal, how="left")
    if box.kind_of_join == "inner":
        pairs = pairs.where(~on(edge) | F.col(matched).isNotNull())
    identity = F.concat("_id", F.lit("|"), F.coalesce(matched, F.lit("")))
    lefts = (source.column(column).alias(wide(name, f"left_{column}")) for column in source.types)
    told = F.when(on(edge), identity).otherwise(F.col("_id")).alias("_id")
    return with_columns(pairs, [*lefts, told], ["_id"])
