"""Which columns of a stream anybody needs: what nobody needs is not carried through a query."""

from sqlglot import exp

from catchment.queries.graph import Graph
from catchment.queries.model import Aggregate, AnyBox, Filter, Join, Late, Map, Split
from catchment.queries.syntax import parse


def needed_columns(graph: Graph, stream: str) -> set[str]:
    """The columns of a stream that the boxes and outputs need that read it."""
    everything = set(graph.streams[stream].columns)
    if any(output.source == stream for output in graph.query.outputs.values()):
        return everything
    needed: set[str] = set()
    for name in graph.query.readers(stream):
        needed |= _needed_by(graph, name, stream, everything)
    return needed & everything


def joined_columns(graph: Graph, name: str, side: str) -> dict[str, str]:
    """The columns of a side, `left` or `right`, that a join of streams pairs rows by or selects."""
    plan = graph.joins[name]
    is_left = side == "left"
    stream, time = (plan.left, plan.left_time) if is_left else (plan.right, plan.right_time)
    selected = {
        column.name
        for text in plan.select.values()
        for column in parse(text).find_all(exp.Column)
        if column.table == side
    }
    needed = selected | _named(*(left if is_left else right for left, right in plan.on)) | {time}
    return {column: kind for column, kind in graph.streams[stream].columns.items() if column in needed}


def _needed_by(graph: Graph, name: str, stream: str, everything: set[str]) -> set[str]:
    box: AnyBox = graph.query.boxes[name]
    match box:
        case Filter():
            return _named(box.where) | needed_columns(graph, name)
        case Split():
            parts = (needed_columns(graph, part) for part in box.streams(name))
            return _named(*box.into.values()).union(*parts)
        case Map():
            return _named(*graph.selects[name].values(), *(box.each or {}).values())
        case Aggregate() if box.late is Late.REVISE:
            arguments = [value.argument for value in graph.aggregates[name] if value.argument]
            return {*box.by, graph.times.get(name, "")} | _named(*arguments)
        case Join() if not graph.joins[name].table:
            return set(joined_columns(graph, name, "left" if stream == box.sources[0] else "right"))
        case _:
            return everything


def _named(*expressions: str) -> set[str]:
    """The columns that expressions name."""
    return {column.name for text in expressions for column in parse(text).find_all(exp.Column)}
