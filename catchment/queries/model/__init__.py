"""What a continuous query is declared as: inputs, tables, boxes, outputs, and an objective.

A query is a graph without cycles. Streams have names: an input or a box gives the stream of its own name, a
split gives `BOX.PART` for each part, and an aggregate with `late: side` gives `BOX.late` besides. The YAML
file, the Python builder and the API make this same model; the checker says whether it makes sense.
"""

from catchment.queries.model.aggregates import Aggregate, Emit, Late, Window, WindowKind
from catchment.queries.model.boxes import BOX_CLASSES, AnyBox, Join, Top, box_kind
from catchment.queries.model.outputs import Destination, Objective, Output
from catchment.queries.model.query import DeployedQuery, QueryDeclaration, QuerySpec, Where
from catchment.queries.model.sources import Format, Input, InputKind, Table, TableKind
from catchment.queries.model.stateless import Box, Filter, Map, Split, Union
from catchment.queries.model.terms import (
    QUERY_NAME,
    Declaration,
    Duration,
    Expression,
    Identifier,
    QueryName,
    Schema,
    StreamRef,
    TypeName,
    duration_ms,
)

__all__ = [
    "BOX_CLASSES",
    "QUERY_NAME",
    "Aggregate",
    "AnyBox",
    "Box",
    "Declaration",
    "DeployedQuery",
    "Destination",
    "Duration",
    "Emit",
    "Expression",
    "Filter",
    "Format",
    "Identifier",
    "Input",
    "InputKind",
    "Join",
    "Late",
    "Map",
    "Objective",
    "Output",
    "QueryDeclaration",
    "QueryName",
    "QuerySpec",
    "Schema",
    "Split",
    "StreamRef",
    "Table",
    "TableKind",
    "Top",
    "TypeName",
    "Union",
    "Where",
    "Window",
    "WindowKind",
    "box_kind",
    "duration_ms",
]
