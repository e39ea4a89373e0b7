"""Whether boxes make sense, and the streams that they give: one function for each kind of box."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from catchment.queries.clauses import check_aggregate, check_order
from catchment.queries.expressions import check, check_condition, known_column
from catchment.queries.graph import Columns, Graph, Stream
from catchment.queries.joins import check_join
from catchment.queries.model import Aggregate, AnyBox, Emit, Filter, Join, Late, Map, Split, Top, Union
from catchment.queries.problems import Problem
from catchment.queries.syntax import WrongExpression
from catchment.queries.types import article_of, common
from catchment.queries.windows import window_columns, window_problems

Gives = Iterator[Problem]


def check_box(name: str, box: AnyBox, graph: Graph) -> Gives:
    """All that is wrong with a box; if nothing is, its streams are in the graph afterwards."""
    problems: list[Problem] = []
    rule: Callable[..., None] = _RULES[type(box)]
    rule(_Place(name, problems), box, graph)
    return iter(problems)


def check_time(column: str, columns: Mapping[str, str]) -> None:
    """Refuses a column of time that is none."""
    found = known_column(column, columns)
    if found != "timestamp":
        raise WrongExpression(
            f"{column} is {article_of(found)}, not a timestamp",
            f"Declare it as one, or make one with timestamp_millis({column}) in a map box",
        )


class _Place:
    """A box while it is checked: errors inside become problems that say where."""

    def __init__(self, name: str, problems: list[Problem]) -> None:
        self.name = name
        self._problems = problems

    @contextmanager
    def at(self, *rest: str) -> Iterator[None]:
        try:
            yield
        except WrongExpression as error:
            self.wrong(error.happened, error.remedy, *rest)

    def wrong(self, happened: str, remedy: str, *rest: str) -> None:
        self._problems.append(Problem(("boxes", self.name, *rest), happened, remedy))

    def add(self, problems: Iterator[Problem]) -> None:
        self._problems.extend(problems)

    @property
    def fine(self) -> bool:
        return not self._problems


def _filter(place: _Place, box: Filter, graph: Graph) -> None:
    source = graph.streams[box.filter]
    with place.at("where"):
        check_condition(box.where, source.columns)
    _give(place, graph, place.name, source.columns, source.time, source.updating)


def _map(place: _Place, box: Map, graph: Graph) -> None:
    source = graph.streams[box.map]
    scope = dict(source.columns)
    for name, expression in (box.each or {}).items():
        with place.at("each", name):
            scope[name] = _element(expression, source.columns)
    if box.select is None and box.each is None:
        place.wrong("it changes nothing", "Add `select:` or `each:`")
    columns, selected = dict(scope), {name: name for name in scope}
    if box.select is not None:
        columns, selected = {}, {}
        for name, expression in box.select.items():
            with place.at("select", name):
                typed = check(expression, scope)
                columns[name], selected[name] = typed.type, typed.as_type
    graph.selects[place.name] = selected
    carried = [name for name, sql in selected.items() if sql == source.time]
    _give(place, graph, place.name, columns, carried[0] if carried else None, source.updating)


def _element(expression: str, columns: Columns) -> str:
    typed = check(expression, columns)
    if not typed.type.startswith("array<"):
        raise WrongExpression(
            f"{expression} is {article_of(typed.type)}, not an array", "Make one, as with split(text, ' ')"
        )
    return typed.type[6:-1]


def _split(place: _Place, box: Split, graph: Graph) -> None:
    source = graph.streams[box.split]
    for part, condition in box.into.items():
        with place.at("into", part):
            check_condition(condition, source.columns)
    if box.otherwise in box.into:
        place.wrong(f"{box.otherwise} is a part already", "Give it another name", "otherwise")
    for stream in box.streams(place.name):
        _give(place, graph, stream, source.columns, source.time, source.updating)


def _union(place: _Place, box: Union, graph: Graph) -> None:
    sources = [graph.streams[name] for name in box.union]
    first = sources[0]
    columns = dict(first.columns)
    if len(set(box.union)) < len(box.union):
        place.wrong("it has a stream twice", "Name each once", "union")
    for other in sources[1:]:
        with place.at("union"):
            columns = _united(columns, first.name, other)
    times = {source.time for source in sources}
    time = first.time if len(times) == 1 else None
    _give(place, graph, place.name, columns, time, any(source.updating for source in sources))


def _united(columns: Columns, name: str, other: Stream) -> Columns:
    for column in {**columns, **other.columns}:
        if column not in columns or column not in other.columns:
            has, lacks = (name, other.name) if column in columns else (other.name, name)
            raise WrongExpression(
                f"{lacks} has no column {column}, as {has} has", "Give all the same columns with map boxes"
            )
    united = {}
    for column, found in columns.items():
        together = common(found, other.columns[column])
        if together is None:
            there = article_of(other.columns[column])
            raise WrongExpression(
                f"{column} is {article_of(found)} in {name} and {there} in {other.name}",
                "Cast one of them in a map box",
            )
        united[column] = together
    return united


def _aggregate(place: _Place, box: Aggregate, graph: Graph) -> None:
    source = graph.streams[box.aggregate]
    columns: Columns = {}
    for column in box.by:
        with place.at("by"):
            columns[column] = _groupable(column, source.columns)
    place.add(window_problems(place.name, box, source))
    time = box.time or (box.window.order_by if box.window else None) or source.time
    if time and place.fine:
        with place.at("time"):
            check_time(time, source.columns)
            graph.times[place.name] = time
    added = window_columns(box.window)
    values = []
    for name, expression in box.values.items():
        if name in box.by or name in added:
            place.wrong(f"there is a column {name} already", "Give it another name", "values", name)
        with place.at("values", name):
            values.append(check_aggregate(name, expression, source.columns))
    graph.aggregates[place.name] = tuple(values)
    columns |= added | {value.name: value.type for value in values}
    revised = box.emit is Emit.UPDATES or box.late is Late.REVISE
    _give(place, graph, place.name, columns, "window_start" if box.window else None, revised)
    if box.late is Late.SIDE:
        _give(place, graph, f"{place.name}.late", source.columns, source.time, source.updating)


def _groupable(column: str, columns: Columns) -> str:
    found = known_column(column, columns)
    if found.startswith("array"):
        raise WrongExpression(f"{column} is an array, which is no group", "Use `each` of a map box before it")
    return found


def _top(place: _Place, box: Top, graph: Graph) -> None:
    source = graph.streams[box.top]
    for column in box.by:
        with place.at("by"):
            _groupable(column, source.columns)
    with place.at("order_by"):
        graph.orders[place.name] = check_order(box.order_by, source.columns)
    if "rank" in source.columns:
        place.wrong("there is a column rank already", "Give it another name in a map box before")
    _give(place, graph, place.name, {**source.columns, "rank": "int"}, source.time, True)


def _join(place: _Place, box: Join, graph: Graph) -> None:
    columns, updating, problems = check_join(place.name, box, graph)
    place.add(iter(problems))
    plan = graph.joins.get(place.name)
    carried = [name for name, sql in plan.select.items() if sql == f"left.{plan.left_time}"] if plan else []
    _give(place, graph, place.name, columns, carried[0] if carried else None, updating)


def _give(
    place: _Place, graph: Graph, stream: str, columns: Columns, time: str | None, updating: bool
) -> None:
    """What is wrong gives nothing: whatever reads it is not checked, and one mistake stays one line."""
    if place.fine:
        graph.streams[stream] = Stream(stream, place.name, dict(columns), time, updating)


_RULES: dict[type, Callable[..., None]] = {
    Filter: _filter,
    Map: _map,
    Split: _split,
    Union: _union,
    Aggregate: _aggregate,
    Top: _top,
    Join: _join,
}
