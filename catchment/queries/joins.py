"""Whether joins make sense, and how their two sides are paired."""

from collections.abc import Mapping

from catchment.queries.clauses import check_pairs, qualified
from catchment.queries.expressions import check, known_column
from catchment.queries.graph import Columns, Graph, JoinPlan, Stream
from catchment.queries.model import Join
from catchment.queries.problems import Problem
from catchment.queries.syntax import WrongExpression
from catchment.queries.types import article_of


def check_join(name: str, box: Join, graph: Graph) -> tuple[Columns, bool, list[Problem]]:
    """The columns that a join gives, whether its rows can be withdrawn, and what is wrong."""
    left, right = box.join
    problems = _form_problems(name, box, right in graph.tables)
    if problems:
        return {}, False, problems
    left_columns, right_columns = graph.streams[left].columns, _columns(right, graph)
    try:
        on = check_pairs(box.on, _side(left, left_columns), _side(right, right_columns))
        times = (None, None) if right in graph.tables else _times(box, graph)
    except WrongExpression as error:
        return {}, False, [_problem(name, error, "on")]
    columns, select, problems = _selected(name, box, left_columns, right_columns)
    graph.joins[name] = JoinPlan(left, right, right in graph.tables, on, select, *times)
    sides = [graph.streams[side] for side in box.join if side in graph.streams]
    waits = box.kind_of_join == "left" and right not in graph.tables
    return columns, waits or any(side.updating for side in sides), problems


def _form_problems(name: str, box: Join, table: bool) -> list[Problem]:
    left, right = box.join
    place = ("boxes", name)
    if left == right:
        remedy = f"Join it with a filter or map box of {left}"
        return [Problem((*place, "join"), f"both sides are {left}", remedy)]
    if table and box.within:
        return [Problem((*place, "within"), f"{right} is a table, which has no time", "Leave it out")]
    if not table and not box.within:
        remedy = "Add `within: 60s`, the time that two rows may be apart"
        return [Problem(place, "a join of two streams would wait for ever", remedy)]
    return []


def _columns(source: str, graph: Graph) -> Columns:
    return graph.tables[source].columns if source in graph.tables else graph.streams[source].columns


def _side(source: str, columns: Columns) -> Columns:
    """What can be said of a side: its columns, also with its name before them."""
    return {**columns, **{f"{source}.{column}": found for column, found in columns.items()}}


def _times(box: Join, graph: Graph) -> tuple[str, str]:
    stated: list[str] | list[None] = (
        [box.time, box.time] if isinstance(box.time, str) else box.time or [None, None]
    )
    if len(stated) != 2:
        raise WrongExpression(f"time names {len(stated)} columns", "Name one of each side, or one for both")
    left, right = (_time(graph.streams[side], time) for side, time in zip(box.join, stated, strict=True))
    return left, right


def _time(stream: Stream, stated: str | None) -> str:
    time = stated or stream.time
    if time is None:
        raise WrongExpression(
            f"{stream.name} has no column of time", "Add `time: [COLUMN of the left, COLUMN of the right]`"
        )
    found = known_column(time, stream.columns)
    if found != "timestamp":
        raise WrongExpression(f"{time} is {article_of(found)}, not a timestamp", "Name a column that is one")
    return time


def _selected(
    name: str, box: Join, left: Columns, right: Columns
) -> tuple[Columns, dict[str, str], list[Problem]]:
    """Columns, expressions over `left` and `right`, and what is wrong with them."""
    shared = [column for column in left if column in right]
    if box.select is None and shared:
        both = f"{box.join[0]}.{shared[0]}"
        remedy = f"Add `select:` with the columns wanted, as `{shared[0]}: {both}`"
        return {}, {}, [Problem(("boxes", name), f"both sides have a column {shared[0]}", remedy)]
    wanted = box.select or {column: column for column in (*left, *right)}
    scope, places = _scope(box, left, right)
    columns, select, problems = {}, {}, []
    for column, expression in wanted.items():
        try:
            typed = check(expression, scope)
            columns[column] = typed.type
            select[column] = _as_structs(expression, places, typed.type)
        except WrongExpression as error:
            problems.append(_problem(name, _ambiguous(error, expression, shared, box), "select", column))
    return columns, select, problems


def _as_structs(expression: str, places: Mapping[str, str], found: str) -> str:
    sql = qualified(expression, places)
    return sql if sql in places.values() else f"CAST(({sql}) AS {found})"


def _scope(box: Join, left: Columns, right: Columns) -> tuple[Columns, dict[str, str]]:
    """What can be selected, and where it is. A name that both sides have needs its stream before it."""
    scope: Columns = {}
    places: dict[str, str] = {}
    for side, source, own, other in (("left", box.join[0], left, right), ("right", box.join[1], right, left)):
        for column, found in own.items():
            names = [f"{source}.{column}", *([column] if column not in other else [])]
            scope.update(dict.fromkeys(names, found))
            places.update(dict.fromkeys(names, f"{side}.{column}"))
    return scope, places


def _ambiguous(error: WrongExpression, expression: str, shared: list[str], box: Join) -> WrongExpression:
    if expression not in shared:
        return error
    left, right = box.join
    return WrongExpression(
        f"both sides have a column {expression}", f"Write {left}.{expression} or {right}.{expression}"
    )


def _problem(name: str, error: WrongExpression, *rest: str) -> Problem:
    return Problem(("boxes", name, *rest), error.happened, error.remedy)
