"""Stages: boxes with state that are next in a query, handed to one Java operator."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.pipeline import operators
from catchment.pipeline.control import SHARDS
from catchment.queries.frames.changes import (
    META,
    Columns,
    Taken,
    ddl,
    edge_number,
    from_java,
    on,
    to_java,
    wide,
)

STAGE = "catchment.queries.Stage"
# The shard, and what every row has.
_FIRST_COLUMN = 1 + len(META)
_FIRST_OUTPUT = len(META)
_NUMBER = "_number"

Spec = Callable[[Mapping[str, int]], dict[str, Any]]


@dataclass(frozen=True)
class Port:
    """How a box takes the rows of one edge; all ports of a box have the same columns.

    With a `giver`, another box of the same stage, rows come straight from that.
    """

    edge: str
    shard: Column
    own: Mapping[str, Taken]
    to_all_shards: bool = False
    giver: str | None = None


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

    @property
    def outer_ports(self) -> list[Port]:
        """Those to which rows come from outside the stage."""
        return [port for port in self.ports if port.giver is None]


@dataclass(frozen=True)
class Stage:
    """Boxes, those that rows go on from before those that take them; of some the results leave the stage.

    One that is not `divided` is one task, and has all in one shard.
    """

    query: str
    place: str
    boxes: Sequence[StatefulBox]
    leaving: Collection[str]
    passing: Columns
    ticking: bool
    divided: bool


def shard_of(*columns: Column) -> Column:
    """The shard of a group; the same for ever, as it is in the state."""
    return F.pmod(F.hash(*columns), F.lit(SHARDS)) if columns else F.lit(0)


def staged(rows: DataFrame, stage: Stage) -> DataFrame:
    """The results of boxes, and all rows that are for none of them, with the columns `passing`."""
    outer = [box for box in stage.boxes if box.outer_ports]
    own = [_own(box, name, shared=bool(stage.passing)) for box in outer for name in box.ports[0].own]
    with_ids = stage.passing or any(box.needs_ids for box in outer)
    identity = F.col("_id") if with_ids else F.lit(None).cast("string").alias("_id")
    coming = rows.select(
        _shard(stage).alias("shard"),
        *(identity if name == "_id" else F.col(name) for name in META),
        *(column.alias(f"_{number}") for number, column in enumerate(own)),
        *(to_java(F.col(name), kind).alias(name) for name, kind in stage.passing.items()),
    )
    columns = {**_given(stage), **stage.passing}
    told, place = orjson.dumps(_asked(stage)).decode(), f"{stage.query}/{stage.place}"
    results = operators.apply(STAGE, coming, stage.query, place, told, ddl(columns))
    return results.select(
        *META, *(from_java(F.col(name), kind).alias(name) for name, kind in columns.items())
    )


def _given(stage: Stage) -> dict[str, str]:
    """The columns of results that leave the stage."""
    leaving = [box for box in stage.boxes if box.name in stage.leaving]
    return {wide(box.name, name): kind for box in leaving for name, kind in box.gives.items()}


def _own(box: StatefulBox, name: str, *, shared: bool) -> Column:
    """A column of a box, which depends on the edge that a row is on."""
    first, *others = box.outer_ports
    if not others and not shared:
        return first.own[name].column
    column = F.when(on(first.edge), first.own[name].column)
    for port in others:
        column = column.when(on(port.edge), port.own[name].column)
    return column


def _shard(stage: Stage) -> Column:
    """The shard of a row; ticks, and entries of tables, come to every one."""
    if not stage.divided:
        return F.lit(0)
    ports = [port for box in stage.boxes for port in box.ports]
    first, *others = [port for port in ports if not port.to_all_shards]
    shard = F.when(on(first.edge), first.shard)
    for port in others:
        shard = shard.when(on(port.edge), port.shard)
    shard = first.shard if len(ports) == 1 else shard.otherwise(shard_of(F.col("_id")))
    everywhere = [on(port.edge) for port in ports if port.to_all_shards]
    everywhere += [F.col("_tick_ms").isNotNull()] if stage.ticking else []
    if not everywhere:
        return shard.cast("int")
    to_all = everywhere[0]
    for other in everywhere[1:]:
        to_all = to_all | other
    every = F.array(*map(F.lit, range(SHARDS)))
    return F.explode(F.when(to_all, every).otherwise(F.array(shard.cast("int"))))


def _asked(stage: Stage) -> dict[str, Any]:
    """What jvm/src/catchment/queries/StageSpec.java reads."""
    given, places = list(_given(stage)), _places(stage)
    first_passed = _FIRST_COLUMN + sum(len(box.ports[0].own) for box in stage.boxes if box.outer_ports)
    return {
        "boxes": [_spec(box, stage, places, given) for box in stage.boxes],
        "first_passed": first_passed,
        "passed": len(stage.passing),
        "first_passed_out": _FIRST_OUTPUT + len(given),
        "hands_ticks_on": stage.ticking,
    }


def _places(stage: Stage) -> dict[str, int]:
    """Where each box has its first column; those that no row from outside has are counted on behind all."""
    outer = [box for box in stage.boxes if box.outer_ports]
    places, place = {}, _FIRST_COLUMN
    for box in outer:
        places[box.name] = place
        place += len(box.ports[0].own)
    place += len(stage.passing)
    for box in stage.boxes:
        if box not in outer:
            places[box.name] = place
            place += len(box.ports[0].own)
    return places


def _spec(box: StatefulBox, stage: Stage, places: Mapping[str, int], given: list[str]) -> dict[str, Any]:
    at = {name: places[box.name] + number for number, name in enumerate(box.ports[0].own)}
    leaves = box.name in stage.leaving
    first = [given.index(wide(box.name, name)) for name in box.gives][:1] if leaves else []
    return {
        "name": box.name,
        "edge": edge_number(box.name),
        "takes": [edge_number(port.edge) for port in box.outer_ports],
        "spec": box.spec(at),
        "leaves": leaves,
        "first_output": _FIRST_OUTPUT + (first[0] if first else 0),
        "feeds": [
            _feed(number, port, places[taker.name], box, with_ids=taker.needs_ids)
            for number, taker in enumerate(stage.boxes)
            for port in taker.ports
            if port.giver == box.name
        ],
    }


def _feed(taker: int, port: Port, first: int, giver: StatefulBox, *, with_ids: bool) -> dict[str, Any]:
    """How another box takes a result: its columns by their places, and constants where there is none."""
    given = list(giver.gives)
    assert all(each.plain or each.is_constant for each in port.own.values())
    return {
        "box": taker,
        "first": first,
        "columns": [given.index(each.plain) if each.plain else -1 for each in port.own.values()],
        "constants": [each.constant for each in port.own.values()],
        # Rows of inputs have the id of their source until they are recognised.
        "numbered": with_ids and _NUMBER in giver.gives,
    }
