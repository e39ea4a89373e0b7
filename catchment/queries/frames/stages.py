"""Stages: the boxes with state that are next in a query, handed to one Java operator, by shards."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.pipeline import operators
from catchment.pipeline.control import SHARDS
from catchment.queries.frames.changes import META, Columns, ddl, edge_number, from_java, on, to_java, wide

STAGE = "catchment.queries.Stage"
# The shard, and what every row has.
_FIRST_COLUMN = 1 + len(META)
_FIRST_OUTPUT = len(META)

Spec = Callable[[Mapping[str, int]], dict[str, Any]]


@dataclass(frozen=True)
class Port:
    """How a box takes the rows of one edge; all ports of a box have the same columns."""

    edge: str
    shard: Column
    own: Mapping[str, Column]
    to_all_shards: bool = False


@dataclass(frozen=True)
class StatefulBox:
    """A box with state: `spec` says what it is asked for, given the places of its columns.

    Making the id of a row costs time; a box that only counts does not need to know which row is which.
    """

    name: str
    ports: Sequence[Port]
    spec: Spec
    gives: Columns
    needs_ids: bool = True


def shard_of(*columns: Column) -> Column:
    """The shard of a group; the same for ever, as it is in the state."""
    return F.pmod(F.hash(*columns), F.lit(SHARDS)) if columns else F.lit(0)


def staged(
    rows: DataFrame, query: str, place: str, boxes: Sequence[StatefulBox], passing: Columns, *, ticking: bool
) -> DataFrame:
    """The results of boxes, and all rows that are for none of them, with the columns `passing`."""
    own = [
        (f"{box.name}.{name}", _own(box, name, bool(passing))) for box in boxes for name in box.ports[0].own
    ]
    names = [name for name, _ in own]
    with_ids = passing or any(box.needs_ids for box in boxes)
    identity = F.col("_id") if with_ids else F.lit(None).cast("string").alias("_id")
    in_shards = rows.select(
        _shard(boxes, ticking=ticking).alias("shard"),
        *(identity if name == "_id" else F.col(name) for name in META),
        *(column.alias(f"_{number}") for number, (_, column) in enumerate(own)),
        *(to_java(F.col(name), kind).alias(name) for name, kind in passing.items()),
    )
    given = {wide(box.name, name): kind for box in boxes for name, kind in box.gives.items()}
    spec = {
        "boxes": [_spec(box, names, list(given)) for box in boxes],
        "first_passed": _FIRST_COLUMN + len(own),
        "passed": len(passing),
        "first_passed_out": _FIRST_OUTPUT + len(given),
        "hands_ticks_on": ticking,
    }
    columns = {**given, **passing}
    told = orjson.dumps(spec).decode()
    results = operators.apply(STAGE, in_shards, query, f"{query}/{place}", told, ddl(columns))
    return results.select(
        *META, *(from_java(F.col(name), kind).alias(name) for name, kind in columns.items())
    )


def _own(box: StatefulBox, name: str, shared: bool) -> Column:
    """A column of a box, which depends on the edge that a row is on."""
    if len(box.ports) == 1 and not shared:
        return box.ports[0].own[name]
    first, *others = box.ports
    column = F.when(on(first.edge), first.own[name])
    for port in others:
        column = column.when(on(port.edge), port.own[name])
    return column


def _shard(boxes: Sequence[StatefulBox], *, ticking: bool) -> Column:
    """The shard of a row; ticks, and entries of tables, come to every one."""
    ports = [port for box in boxes for port in box.ports]
    first, *others = [port for port in ports if not port.to_all_shards]
    shard = F.when(on(first.edge), first.shard)
    for port in others:
        shard = shard.when(on(port.edge), port.shard)
    shard = first.shard if len(ports) == 1 else shard.otherwise(shard_of(F.col("_id")))
    everywhere = [on(port.edge) for port in ports if port.to_all_shards]
    everywhere += [F.col("_tick_ms").isNotNull()] if ticking else []
    if not everywhere:
        return shard.cast("int")
    to_all = everywhere[0]
    for other in everywhere[1:]:
        to_all = to_all | other
    every = F.array(*map(F.lit, range(SHARDS)))
    return F.explode(F.when(to_all, every).otherwise(F.array(shard.cast("int"))))


def _spec(box: StatefulBox, own: list[str], given: list[str]) -> dict[str, Any]:
    """What jvm/src/catchment/queries/StageSpec.java reads of a box."""
    at = {name: _FIRST_COLUMN + own.index(f"{box.name}.{name}") for name in box.ports[0].own}
    first = [given.index(wide(box.name, name)) for name in box.gives][:1]
    return {
        "name": box.name,
        "edge": edge_number(box.name),
        "takes": [edge_number(port.edge) for port in box.ports],
        "spec": box.spec(at),
        "first_output": _FIRST_OUTPUT + (first[0] if first else 0),
    }
