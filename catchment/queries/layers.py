"""How far the boxes of a query are from its inputs, and which edges lead where."""

from dataclasses import dataclass
from functools import cached_property

from catchment.queries.frames.tables import kind_of
from catchment.queries.graph import Graph
from catchment.queries.model import Aggregate, AnyBox, Filter, Join, Split, Union


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
    """A query as a chain of stages; tables that are `given` do not change while it runs."""

    graph: Graph
    given: frozenset[str] = frozenset()

    @cached_property
    def stages(self) -> dict[str, int]:
        """The boxes with state, and in which stage each is: after all that it reads of."""
        return {
            name: max(each for source in self._streams(box) for each in self.rounds_of(source))
            for name, box in self.graph.boxes()
            if self._keeps_state(name, box)
        }

    def rounds_of(self, stream: str) -> set[int]:
        """In which rounds there are rows of a stream: a union may have some sooner than others."""
        giver = self.graph.streams[stream].giver
        box = self.graph.query.boxes.get(giver)
        if box is None:
            return {0}
        rounds = {each for source in self._streams(box) for each in self.rounds_of(source)}
        return {max(rounds) + 1} if self._keeps_state(giver, box) else rounds

    def readers_of(self, stream: str) -> list[str]:
        """The edges that the rows of a stream go on to."""
        edges = []
        for name, box in self.graph.query.boxes.items():
            lead = edges_of(name, box)
            edges += [lead[number] for number, source in enumerate(box.sources) if source == stream]
        outputs = self.graph.query.outputs.items()
        return edges + [output_edge(name) for name, each in outputs if each.source == stream]

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

    def _keeps_state(self, name: str, box: AnyBox) -> bool:
        """A join with a table that does not change needs none."""
        plan = self.graph.joins.get(name)
        if plan and plan.table:
            return plan.right not in self.given and kind_of(self.graph.query.tables[plan.right]) is not None
        return box.stateful

    def _streams(self, box: AnyBox) -> list[str]:
        return [source for source in box.sources if source in self.graph.streams]
