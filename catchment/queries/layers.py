"""How far the boxes of a query are from its inputs, and which edges lead where.

Boxes with state are in stages, one after the other. Rows of the inputs come to stage 0, whose results are
there in round 1, and so on. What recognises inputs that may come twice is in a stage before that, FIRST.
"""

from dataclasses import dataclass
from functools import cached_property

from catchment.queries.frames.tables import kind_of
from catchment.queries.graph import Graph
from catchment.queries.model import Aggregate, AnyBox, Filter, Join, Split, Union

FIRST = -1


def edges_of(name: str, box: AnyBox) -> list[str]:
    """The edges that rows come to a box on: one for each stream of a union or join."""
    if isinstance(box, Union | Join):
        return [f">{name}/{number}" for number in range(len(box.sources))]
    return [f">{name}"]


def output_edge(name: str) -> str:
    """The edge that rows leave by an output on."""
    return f">output {name}"


@dataclass(frozen=True)
class Layers:
    """A query as a chain of stages.

    Tables that are `given` do not change while it runs; inputs that are `recognised` have a box with state
    of their own. A box that can take rows `straight` from others with state is in the stage of these.
    """

    graph: Graph
    given: frozenset[str] = frozenset()
    recognised: frozenset[str] = frozenset()
    straight: bool = False

    @cached_property
    def stages(self) -> dict[str, int]:
        """The boxes with state, and in which stage each is: no sooner than all that it reads of."""
        return {
            name: max(self._earliest(source, name) for source in self._streams(box))
            for name, box in self.graph.boxes()
            if self._keeps_state(name, box)
        }

    def rounds_of(self, stream: str) -> set[int]:
        """In which rounds there are rows of a stream: a union may have some sooner than others."""
        giver = self.graph.streams[stream].giver
        box = self.graph.query.boxes.get(giver)
        if box is None:
            return {0}
        if self._keeps_state(giver, box):
            return {1 + max(self._earliest(source, giver) for source in self._streams(box))}
        return {each for source in self._streams(box) for each in self.rounds_of(source)}

    def readers_of(self, stream: str) -> list[str]:
        """The edges that the rows of a stream go on to, but for those that are taken straight."""
        edges = []
        for name, box in self.graph.query.boxes.items():
            lead = zip(edges_of(name, box), box.sources, strict=True)
            edges += [
                edge for edge, source in lead if source == stream and not self.is_straight(source, name)
            ]
        outputs = self.graph.query.outputs.items()
        return edges + [output_edge(name) for name, each in outputs if each.source == stream]

    def is_straight(self, source: str, reader: str) -> bool:
        """Whether a box takes the rows of a stream within the stage that gives them."""
        return reader in self.stages and self._stage_of_giver(source, reader) == self.stages[reader]

    def columns_from(self, stream: str) -> str:
        """The stream whose columns a stream has: filters and splits make none of their own."""
        box = self.graph.query.boxes.get(self.graph.streams[stream].giver)
        if isinstance(box, Filter | Split) or (box is not None and self.is_late(stream)):
            return self.columns_from(box.sources[0])
        return stream

    def is_late(self, stream: str) -> bool:
        """Whether a stream is that of rows which came too late for their window."""
        box = self.graph.query.boxes.get(self.graph.streams[stream].giver)
        return isinstance(box, Aggregate) and stream.endswith(".late")

    def _earliest(self, source: str, reader: str) -> int:
        """The first stage in which a box with state can have all rows of a stream."""
        stage = self._stage_of_giver(source, reader)
        return max(self.rounds_of(source)) if stage is None else stage

    def _stage_of_giver(self, source: str, reader: str) -> int | None:
        """The stage of the box with state that a box can take the rows of a stream from, if there is one."""
        if not self.straight or not takes_as_it_is(self.graph, reader):
            return None
        if source in self.recognised:
            return FIRST
        box = self.graph.query.boxes.get(source)
        # Columns of a join are selected behind it.
        if box is None or isinstance(box, Join) or not self._keeps_state(source, box):
            return None
        return max(self.rounds_of(source)) - 1

    def _keeps_state(self, name: str, box: AnyBox) -> bool:
        """A join with a table that does not change needs none."""
        plan = self.graph.joins.get(name)
        if plan and plan.table:
            return plan.right not in self.given and kind_of(self.graph.query.tables[plan.right]) is not None
        return box.stateful

    def _streams(self, box: AnyBox) -> list[str]:
        return [source for source in box.sources if source in self.graph.streams]


def takes_as_it_is(graph: Graph, name: str) -> bool:
    """Whether a box with state takes columns of streams only, and nothing that is computed of them."""
    plan = graph.joins.get(name)
    if plan:
        ours, theirs = zip(*plan.on, strict=True)
        of_table = plan.table or set(theirs) <= graph.streams[plan.right].columns.keys()
        return set(ours) <= graph.streams[plan.left].columns.keys() and of_table
    arguments = {value.argument for value in graph.aggregates.get(name, ()) if value.argument is not None}
    return arguments <= graph.source(name).columns.keys()
