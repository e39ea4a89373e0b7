"""Results as rows of a table of the lake: what it is called and like, and whether they fit in there."""

from collections.abc import Iterator, Mapping

from catchment.lake.layout import DAY, KIND_TABLES, Type, table_of
from catchment.lake.results import ROW_ID, ROW_VERSION, ResultTable
from catchment.queries.graph import Columns, Graph
from catchment.queries.known import Known
from catchment.queries.model import (
    Aggregate,
    Destination,
    Filter,
    InputKind,
    Map,
    Output,
    QueryDeclaration,
    Split,
    Union,
    WindowKind,
)
from catchment.queries.problems import Problem
from catchment.queries.tables import TEXT
from catchment.queries.types import article_of

OWN_COLUMNS = (ROW_ID, ROW_VERSION, DAY)
_TYPES: Mapping[str, Type] = {
    "boolean": Type.BOOLEAN,
    "int": Type.LONG,
    "bigint": Type.LONG,
    "double": Type.DOUBLE,
    "string": Type.STRING,
    "timestamp": Type.TIMESTAMP,
    "binary": Type.BINARY,
}


def table_name(query: str, name: str, output: Output) -> str:
    """The table that an output is kept in."""
    return output.table or f"{query}_{name}".replace("-", "_")


def table_text(graph: Graph, name: str) -> str:
    """What the table of an output is like, as every result of it says."""
    output = graph.query.outputs[name]
    stream = graph.streams[output.source]
    columns = {column: _TYPES[kind].value for column, kind in stream.columns.items()}
    said = {TEXT: Type.STRING.value} if output.say else {}
    table = table_name(graph.name, name, output)
    steady = is_steady(graph, output.source)
    return ResultTable(table, graph.name, name, {**columns, **said}, stream.time, steady).text


def is_steady(graph: Graph, stream: str) -> bool:
    """Whether a row that is replaced keeps its time, because that is a part of what it is known by."""
    if graph.streams[stream].time is None:
        return False
    giver = graph.streams[stream].giver
    box = graph.query.boxes.get(giver)
    match box:
        case None:
            return graph.query.inputs[giver].kind is not InputKind.RESULTS
        case Filter() | Map() | Split() | Union():
            return all(is_steady(graph, source) for source in box.sources)
        case Aggregate():
            return bool(box.window and box.window.kind in (WindowKind.TUMBLING, WindowKind.SLIDING))
        case _:
            return False


def lake_problems(
    query: QueryDeclaration, name: str, output: Output, columns: Columns, known: Known
) -> Iterator[Problem]:
    """Why the rows of an output do not fit into a table of the lake."""
    place = ("outputs", name)
    if not known.has_lake:
        remedy = "Set lake.enabled in its configuration, or write `to: results`"
        yield Problem((*place, "to"), "this node has no lake", remedy)
    for column, kind in columns.items():
        if column in OWN_COLUMNS:
            yield Problem(
                place, f"a table has a column {column} already", "Give it another name in a map box"
            )
        elif kind not in _TYPES:
            remedy = f"Use array_join({column}, ' ') in a map box, or one row for each element with `each`"
            yield Problem(place, f"{column} is {article_of(kind)}, which no table of the lake holds", remedy)
    owner = _owner(query, name, table_name(query.name, name, output), known)
    if owner:
        table = table_name(query.name, name, output)
        remedy = "Name another with `table:`"
        yield Problem((*place, "table"), f"the table {table} is that of {owner}", remedy)


def _owner(query: QueryDeclaration, name: str, table: str, known: Known) -> str | None:
    """Who else writes to a table."""
    if table in KIND_TABLES:
        return "a topic"
    subject = next((each for each in known.subjects if table_of(each) == table), None)
    if subject:
        return f"the measurements {subject}"
    for other, output in query.outputs.items():
        if other != name and output.to is Destination.LAKE and table_name(query.name, other, output) == table:
            return f"the output {other}"
    return f"the query {known.tables[table]}" if table in known.tables else None
