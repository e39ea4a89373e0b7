"""Whether a query makes sense, before anything runs: names, types, windows, and that the graph has no cycle.

Each box is checked once what it reads is known. What depends on something wrong is passed over, so that
one mistake is one line.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from catchment.queries import boxes
from catchment.queries.circles import circle
from catchment.queries.destinations import is_late, output_problems
from catchment.queries.graph import Columns, Graph, Stream
from catchment.queries.known import ORIGIN, Known, input_columns, table_columns
from catchment.queries.loading import Lines, numbered, parse_query, read_query
from catchment.queries.model import AnyBox, Input, InputKind, Output, QueryDeclaration
from catchment.queries.problems import Place, Problem, nearest, refuse
from catchment.queries.syntax import WrongExpression


def check_file(file: Path, known: Known | None = None) -> Graph:
    """The graph of a query in a file, or an InvalidQuery with a line for each problem."""
    query, lines = read_query(file)
    return check(query, known, lines)


def check_text(text: str, known: Known | None = None) -> Graph:
    """The same of a text."""
    query, lines = parse_query(text)
    return check(query, known, lines)


def check(query: QueryDeclaration, known: Known | None = None, lines: Lines | None = None) -> Graph:
    """The same of a declaration."""
    checker = _Checker(query, known or Known())
    checker.run()
    refuse(query.name, [numbered(problem, lines or {}) for problem in checker.problems])
    return checker.graph


class _Checker:
    """Goes through a query from its inputs to its outputs and keeps what it finds."""

    def __init__(self, query: QueryDeclaration, known: Known) -> None:
        self.graph = Graph(query)
        self.problems: list[Problem] = []
        self._query = query
        self._known = known

    def run(self) -> None:
        self.problems += _clashes(self._query)
        for name, stated in self._query.inputs.items():
            self._input(name, stated)
        for name, table in self._query.tables.items():
            found = table_columns(name, table, self._known)
            if isinstance(found, Problem):
                self.problems.append(found)
            else:
                self.graph.tables[name] = found
        self._boxes()
        for name, output in self._query.outputs.items():
            self._output(name, output)
        if circle({self._query.name: self._query}, self._query.name):
            remedy = "Read another stream, or write elsewhere"
            self.problems.append(Problem(("inputs",), "the query reads what it writes", remedy))

    def _input(self, name: str, stated: Input) -> None:
        found = input_columns(name, stated, self._known)
        if isinstance(found, Problem):
            self.problems.append(found)
            return
        brought, columns = found
        time = stated.time or ORIGIN
        place = ("inputs", name, "time")
        if self._guarded(place, lambda: boxes.check_time(time, columns)):
            self.graph.declared[name] = brought
            updating = stated.kind is InputKind.RESULTS
            self.graph.streams[name] = Stream(name, name, columns, time, updating)

    def _boxes(self) -> None:
        missing = list(self._missing_sources())
        self.problems += missing
        ordered = dict(self._query.in_order())
        for name, box in ordered.items():
            if self._knows_sources(box):
                self.problems += boxes.check_box(name, box, self.graph)
        if not missing:
            self.problems += [*_cycles(self._query, ordered), *_unused(self._query)]

    def _knows_sources(self, box: AnyBox) -> bool:
        first, *others = box.sources
        tables = self.graph.tables if box.kind == "join" else {}
        return first in self.graph.streams and all(
            each in self.graph.streams or each in tables for each in others
        )

    def _missing_sources(self) -> Iterator[Problem]:
        known = {*self._query.streams(), *self._query.tables}
        for name, box in self._query.boxes.items():
            for source in box.sources:
                if source not in known:
                    yield _no_stream(("boxes", name, box.kind), source, known)
                elif is_late(self._query, source):
                    remedy = f"Add an output with `from: {source}`"
                    yield Problem(("boxes", name, box.kind), "late rows can only leave by an output", remedy)
                elif source in self._query.tables and (box.kind != "join" or source == box.sources[0]):
                    remedy = "Join a stream with it: `join: [STREAM, TABLE]`"
                    yield Problem(("boxes", name, box.kind), f"{source} is a table, not a stream", remedy)

    def _output(self, name: str, output: Output) -> None:
        known = self._query.streams()
        if output.source not in known:
            self.problems.append(_no_stream(("outputs", name, "from"), output.source, set(known)))
        elif output.source in self.graph.streams:
            columns = self.graph.streams[output.source].columns
            self.problems += output_problems(self._query, name, output, columns, self._known)

    def _guarded(self, place: Place, action: Callable[[], object]) -> bool:
        try:
            action()
        except WrongExpression as error:
            self.problems.append(Problem(place, error.happened, error.remedy))
            return False
        return True


def _no_stream(place: Place, source: str, known: set[str]) -> Problem:
    parts = sorted(each for each in known if each.startswith(f"{source}."))
    remedy = f"Write one of its parts: {', '.join(parts)}" if parts else nearest(source, sorted(known))
    return Problem(place, f"there is no stream {source}", remedy)


def _clashes(query: QueryDeclaration) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for part, names in (("inputs", query.inputs), ("tables", query.tables), ("boxes", query.boxes)):
        for name in names:
            if name in seen:
                yield Problem((part, name), f"{seen[name]} has the same name", "Give one of them another")
            seen[name] = f"one of the {part}"


def _cycles(query: QueryDeclaration, ordered: dict[str, AnyBox]) -> Iterator[Problem]:
    """The boxes that wait for each other: one line for each cycle."""
    giver = query.streams()
    told: set[str] = set()
    for name in query.boxes:
        path: list[str] = []
        here: str | None = name
        while here is not None and here not in path and here not in ordered:
            path.append(here)
            waits = [giver[source] for source in query.boxes[here].sources if source in giver]
            here = next((each for each in waits if each in query.boxes and each not in ordered), None)
        cycle = path[path.index(here) :] if here in path else []
        if cycle and not told.intersection(cycle):
            told.update(cycle)
            shown = " → ".join([*reversed(cycle), cycle[-1]])
            remedy = "Let one of them read an input or a box outside of it"
            yield Problem(("boxes", cycle[0]), f"it is in a cycle: {shown}", remedy)


def _unused(query: QueryDeclaration) -> Iterator[Problem]:
    read = {source for box in query.boxes.values() for source in box.sources}
    read.update(output.source for output in query.outputs.values())
    for part, names in (("inputs", query.inputs), ("tables", query.tables)):
        for name in names:
            if name not in read:
                yield Problem((part, name), "nothing reads it", "Let a box read it, or leave it out")
    for name, box in query.boxes.items():
        if not read.intersection(box.streams(name)):
            remedy = f"Add an output with `from: {name}`, or leave it out"
            yield Problem(("boxes", name), "nothing reads what it gives", remedy)


def columns_of(graph: Graph) -> dict[str, Columns]:
    """The columns of every output, under `QUERY/OUTPUT`: what another query reads."""
    outputs = graph.query.outputs.items()
    return {f"{graph.name}/{name}": graph.streams[output.source].columns for name, output in outputs}
