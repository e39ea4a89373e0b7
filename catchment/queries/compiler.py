"""The compiler: from a checked query to one chain of Spark's frames.

The rows of all streams go through the chain together (catchment.queries.frames.changes). It has rounds:

1. rows that a stage gave go on to whoever reads them;
2. boxes without state handle the rows that are on their edges, one box after the other;
3. rows that come to an output become messages, which pass all the rest;
4. the next stage takes rows to the boxes with state that are as far from the inputs as this round.

The first stage is that of the inputs: it recognises what comes twice. In a query of one task, boxes that take
the rows of others with state as they are belong to the stage of these.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.pipeline import operators
from catchment.pipeline.control import Declarations
from catchment.queries.frames import inputs, outputs, stateless, tables
from catchment.queries.frames.aggregates import aggregate_box
from catchment.queries.frames.changes import (
    CHANGE,
    Columns,
    Scope,
    edge_number,
    filled,
    is_aside,
    moved,
    on,
    own_scope,
    settled,
    wide,
    with_columns,
)
from catchment.queries.frames.inputs import Schemas
from catchment.queries.frames.joins import join_box, pair_scope
from catchment.queries.frames.stages import Stage, StatefulBox, staged
from catchment.queries.frames.tops import top_box
from catchment.queries.graph import Graph
from catchment.queries.layers import FIRST, Layers, edges_of, output_edge
from catchment.queries.model import (
    Aggregate,
    AnyBox,
    Destination,
    Emit,
    Filter,
    Join,
    Map,
    Split,
    Top,
    Union,
)
from catchment.queries.needed import joined_columns
from catchment.queries.result_tables import table_text

__all__ = ["compiled", "needs_ticks", "query_session", "settled", "streams_of"]

METER = "catchment.queries.Meter"
LARGEST_TABLE = "1g"


def query_session(spark: SparkSession, graph: Graph) -> SparkSession:
    """A session with the settings of one query: its tasks, and a value that cannot be computed is null."""
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")
    # A larger table of the lake would become an RDD, which real-time mode does not read.
    session.conf.set("spark.sql.execution.arrow.localRelationThreshold", LARGEST_TABLE)
    session.conf.set("spark.sql.shuffle.partitions", str(graph.tasks))
    return session


def needs_ticks(graph: Graph) -> bool:
    """Whether windows close by the clock on the wall while nothing comes."""
    return any(isinstance(box, Aggregate) and box.emit is Emit.FINAL for box in graph.query.boxes.values())


def compiled(
    graph: Graph,
    read: DataFrame,
    site: str,
    declared: Declarations,
    stored: Mapping[str, DataFrame] | None = None,
) -> DataFrame:
    """From the rows of inputs to messages: results, and what was refused or late on the way."""
    chain = _Chain(graph, site, declared, stored or {}, inputs.once_boxes(graph), live=read.isStreaming)
    return chain.run(chain.recognised(read)).where(is_aside()).select("_aside.*")


def streams_of(graph: Graph, frames: Mapping[str, DataFrame], site: str = "site") -> dict[str, DataFrame]:
    """The changes of every stream, from tables with the columns of inputs and tables, by their names."""
    given = {name: frame for name, frame in frames.items() if name in graph.tables}
    chain = _Chain(graph, site, Declarations(), given, tapped=True)
    return chain.tapped_streams(inputs.given(graph, frames))


def streams_of_messages(
    graph: Graph,
    rows: DataFrame,
    site: str,
    declared: Declarations,
    schemas: Schemas,
    stored: Mapping[str, DataFrame],
) -> dict[str, DataFrame]:
    """The same from a batch of Kafka's rows; every input has to be an output as well, to be whole."""
    chain = _Chain(graph, site, declared, stored, inputs.once_boxes(graph), tapped=True)
    return chain.tapped_streams(chain.recognised(inputs.read(rows, graph, schemas)))


def _tap(stream: str) -> str:
    return f">tap {stream}"


@dataclass
class _Chain:
    """A query while its frames are built, from the inputs on to the outputs."""

    graph: Graph
    site: str
    declared: Declarations
    given: Mapping[str, DataFrame]
    # What recognises inputs that may come twice.
    once: Sequence[StatefulBox] = ()
    live: bool = False
    tapped: bool = False

    @cached_property
    def layers(self) -> Layers:
        recognised = frozenset(port.edge for box in self.once for port in box.ports)
        return Layers(self.graph, frozenset(self.given), recognised, straight=self.graph.tasks == 1)

    def scope(self, stream: str) -> Scope:
        """Where the columns of a stream are: those of a filter are where its source's are."""
        source = self.layers.columns_from(stream)
        return own_scope(source, self.graph.streams[source].columns)

    def recognised(self, rows: DataFrame) -> DataFrame:
        """Rows of inputs with their ids, and each only once."""
        waiting = self.layers.recognised
        direct = [name for name in self.graph.query.inputs if name not in waiting]
        rows = inputs.with_ids(rows, direct, lambda _: "_number")
        if not self.once:
            return rows
        passing = {
            place: kind
            for name in direct
            for column, kind in self._columns(name).items()
            # What nobody needs was not read.
            if (place := wide(name, column)) in rows.columns
        }
        boxes = [*self.once, *self._boxes_of(FIRST)]
        rows = self._staged(rows, "inputs", boxes, {**self._of_tables(), **passing})
        left = [box for box in self.once if self._leaves(box.ports[0].edge)]
        numbered = [box.name for box in left if "_number" in box.gives]
        rows = inputs.with_ids(rows, numbered, lambda edge: wide(edge, "_number"))
        for box in left:
            name = box.ports[0].edge
            carried = inputs.carried_columns(self.graph, name)
            back = [F.col(wide(box.name, column)).alias(wide(name, column)) for column in carried]
            rows = with_columns(rows, back, [wide(box.name, column) for column in box.gives])
            rows = moved(rows, box.name, [name])
        return rows

    def tapped_streams(self, read: DataFrame) -> dict[str, DataFrame]:
        """What flows on each arrow, given the rows of inputs."""
        # All streams are in one frame: it is computed once for all of them.
        rows = self.run(read).cache()
        streams = {}
        for name, stream in self.graph.streams.items():
            scope = self.scope(name)
            payload = (scope.column(column).alias(column) for column in stream.columns)
            streams[name] = rows.where(on(_tap(name))).select(*CHANGE, *payload)
        return streams

    def run(self, rows: DataFrame) -> DataFrame:
        """All rounds."""
        depth = max(self.layers.stages.values(), default=FIRST)
        givers = [*self.graph.query.inputs, *self._names_of(FIRST)]
        for level in range(depth + 2):
            rows = self._round(rows, filter(self._leaves, givers), level)
            boxes = self._boxes_of(level)
            if boxes:
                rows = self._staged(rows, f"stage {level}", boxes, self._passing(level, rows))
            givers = self._names_of(level)
        return rows

    def _names_of(self, level: int) -> list[str]:
        return [name for name, at in self.layers.stages.items() if at == level]

    def _boxes_of(self, level: int) -> list[StatefulBox]:
        return [self._stateful(name) for name in self._names_of(level)]

    def _leaves(self, stream: str) -> bool:
        """Whether rows of an input or a box with state are for anybody but those that take them straight."""
        return bool(self._readers(stream))

    def _round(self, rows: DataFrame, givers: Iterable[str], level: int) -> DataFrame:
        for name in givers:
            rows = self._selected(rows, name)
            rows = moved(rows, name, self._readers(name))
        for name, box in self.graph.boxes():
            if name not in self.layers.stages and level in self.layers.rounds_of(box.streams(name)[0]):
                rows = self._stateless(rows, name, box, level)
        for name, output in self.graph.query.outputs.items():
            # Late rows are given out as messages by the operator that finds them late.
            if level in self.layers.rounds_of(output.source) and not self.layers.is_late(output.source):
                edge, source = output_edge(name), self.scope(output.source)
                rows = self._metered(rows, f"output {name}", edge)
                table = table_text(self.graph, name) if output.to is Destination.LAKE else ""
                leaving = outputs.Leaving(self.site, self.graph.name, name, output, edge, source, table)
                rows = outputs.left(rows, leaving)
        return rows

    def _readers(self, stream: str) -> list[str]:
        tap = [_tap(stream)] if self.tapped else []
        return [*self.layers.readers_of(stream), *tap]

    def _stateless(self, rows: DataFrame, name: str, box: AnyBox, level: int) -> DataFrame:
        coming = [
            (edge, self.scope(source))
            for edge, source in zip(edges_of(name, box), box.sources, strict=True)
            if source in self.graph.streams and level in self.layers.rounds_of(source)
        ]
        edges, sources = [edge for edge, _ in coming], [scope for _, scope in coming]
        for edge in edges:
            rows = self._metered(rows, name, edge)
        match box:
            case Filter():
                rows = stateless.filtered(rows, edges[0], box, sources[0])
            case Map():
                select, given = self.graph.selects[name], self.scope(name)
                rows = stateless.mapped(rows, edges[0], name, box, select, sources[0], given)
            case Split():
                readers = {part: self._readers(f"{name}.{part}") for part in box.parts}
                return stateless.split_up(rows, edges[0], box, sources[0], readers)
            case Union():
                rows = stateless.united(rows, edges, sources, self.scope(name))
            case Join():
                rows = tables.looked_up(rows, self.graph, name, edges[0], sources[0], self.given[box.join[1]])
                rows = moved(rows, edges[0], [name])
                rows = self._selected(rows, name)
                return moved(rows, name, self._readers(name))
        for edge in edges:
            rows = moved(rows, edge, self._readers(name))
        return rows

    def _selected(self, rows: DataFrame, name: str) -> DataFrame:
        """What is wanted of the pairs of a join."""
        plan = self.graph.joins.get(name)
        if plan is None:
            return rows
        pairs = pair_scope(name, self._joined(name, "left"), self._joined(name, "right"))
        given = self.scope(name)
        wanted = {
            given.places[column]: F.when(on(name), pairs.expression(sql))
            for column, sql in plan.select.items()
        }
        return filled(rows, wanted)

    def _stateful(self, name: str) -> StatefulBox:
        box, plan = self.graph.query.boxes[name], self._plan(name)
        sources = dict(zip(edges_of(name, box), box.sources, strict=True))
        givers = {
            edge: inputs.once_name(source) if source in self.layers.recognised else source
            for edge, source in sources.items()
            if self.layers.is_straight(source, name)
        }
        return replace(plan, ports=[replace(port, giver=givers.get(port.edge)) for port in plan.ports])

    def _plan(self, name: str) -> StatefulBox:
        box = self.graph.query.boxes[name]
        edges = edges_of(name, box)
        source = self.scope(box.sources[0])
        match box:
            case Aggregate():
                late = self._late_keys(name)
                return aggregate_box(self.graph, name, edges[0], source, live=self.live, late_keys=late)
            case Top():
                return top_box(self.graph, name, edges[0], source, live=self.live)
            case Join() if self.graph.joins[name].table:
                return tables.table_box(self.graph, name, edges[0], source, self.declared)
            case _:
                left, right = source.only(self._joined(name, "left")), self.scope(box.sources[1])
                right = right.only(self._joined(name, "right"))
                return join_box(self.graph, name, (edges[0], edges[1]), left, right)

    def _joined(self, name: str, side: str) -> Columns:
        """The columns of a side that a join has: of a table, and beside one, all."""
        plan = self.graph.joins[name]
        if not plan.table:
            return joined_columns(self.graph, name, side)
        return self._columns(plan.left if side == "left" else plan.right)

    def _late_keys(self, name: str) -> str | None:
        """How the keys of the output begin that late rows of a box go to; None if there is none."""
        declared = self.graph.query.outputs.items()
        wanted = [output for output, each in declared if each.source == f"{name}.late"]
        return outputs.key_prefix(self.site, self.graph.name, wanted[0]) if wanted else None

    def _staged(self, rows: DataFrame, place: str, boxes: list[StatefulBox], passing: Columns) -> DataFrame:
        streams = {inputs.once_name(name): name for name in self.layers.recognised}
        stage = Stage(
            query=self.graph.name,
            place=place,
            boxes=boxes,
            leaving={box.name for box in boxes if self._leaves(streams.get(box.name, box.name))},
            passing=passing,
            ticking=self.live and needs_ticks(self.graph),
            divided=self.graph.tasks > 1,
        )
        # So Spark knows that all is in one place, and shuffles nothing between stages.
        return staged(rows, stage).coalesce(1) if self.live and not stage.divided else staged(rows, stage)

    def _passing(self, level: int, rows: DataFrame) -> dict[str, str]:
        """The columns of rows that are for later boxes: they pass this stage."""
        later = [name for name, at in self.layers.stages.items() if at > level]
        streams = {source for name in later for source in self.graph.query.boxes[name].sources}
        streams |= set(self.graph.streams) if self.tapped else set()
        passing = self._of_tables() if later else {}
        for stream in sorted(streams & set(self.graph.streams)):
            scope = self.scope(stream)
            passing |= {scope.places[column]: kind for column, kind in scope.types.items()}
        return {name: kind for name, kind in passing.items() if name in rows.columns}

    def _of_tables(self) -> dict[str, str]:
        declared = [plan for plan in self.graph.joins.values() if plan.table and plan.right not in self.given]
        return {"_number": "bigint", "_entry": "binary"} if declared else {}

    def _columns(self, stream: str) -> Columns:
        table = self.graph.tables.get(stream)
        return table.columns if table else self.graph.streams[stream].columns

    def _metered(self, rows: DataFrame, name: str, edge: str) -> DataFrame:
        return operators.apply(METER, rows, self.graph.name, name, edge_number(edge)) if self.live else rows
