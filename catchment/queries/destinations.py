"""Whether outputs make sense: their sentences, and that rows fit where they go."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from catchment.queries.graph import Columns
from catchment.queries.known import Known, twin_columns
from catchment.queries.model import Aggregate, Destination, Output, QueryDeclaration
from catchment.queries.outputs import references
from catchment.queries.problems import Problem, nearest
from catchment.queries.result_tables import lake_problems
from catchment.queries.tables import TEXT
from catchment.queries.types import article_of
from catchment.twins.model import TwinTypeSpec

# What a value of twins can be, and the columns that fit; others cannot be a value at all.
_FITTING = {
    "double": ("int", "bigint", "double"),
    "bigint": ("int", "bigint"),
    "string": ("string",),
    "boolean": ("boolean",),
}
_VALUES = {kind for kinds in _FITTING.values() for kind in kinds}


def output_problems(
    query: QueryDeclaration, name: str, output: Output, columns: Columns, known: Known
) -> Iterator[Problem]:
    """All that is wrong with one output."""
    place = ("outputs", name)
    unknown = [column for column in references(output.say or "") if column not in columns]
    for column in unknown:
        yield Problem((*place, "say"), f"there is no column {column}", nearest(column, columns))
    written = output.to in (Destination.RESULTS, Destination.LAKE)
    if output.say and not unknown and written and TEXT in columns:
        remedy = "Give it another name in a map box"
        yield Problem((*place, "say"), f"there is a column {TEXT} already, where sentences stand", remedy)
    if output.to is Destination.ALERTS and not output.say:
        yield Problem(place, "an alert needs a sentence", "Add `say:`, with columns as {column}")
    if output.to is Destination.TWINS:
        yield from _of_twins(query.name, name, output, columns, known)
    elif output.type or output.object:
        yield Problem(place, "type and object are of twins", "Leave them out, or write `to: twins`")
    if output.to is Destination.LAKE:
        yield from lake_problems(query, name, output, columns, known)
    elif output.table:
        yield Problem((*place, "table"), "only the lake has tables", "Leave it out, or write `to: lake`")
    if is_late(query, output.source):
        yield from _of_late(query, name, output)


def is_late(query: QueryDeclaration, stream: str) -> bool:
    """Whether a stream has the late rows of an aggregate."""
    giver, _, part = stream.partition(".")
    return part == "late" and isinstance(query.boxes.get(giver), Aggregate)


def _of_late(query: QueryDeclaration, name: str, output: Output) -> Iterator[Problem]:
    place = ("outputs", name)
    if output.to is not Destination.RESULTS or output.say:
        remedy = "Leave out `to:` and `say:`; another query can read them and do more"
        yield Problem(place, "late rows go to results as they are", remedy)
    first = next(each for each, other in query.outputs.items() if other.source == output.source)
    if first != name:
        yield Problem(place, f"late rows leave by the output {first} already", "Leave one of them out")


def _of_twins(query: str, name: str, output: Output, columns: Columns, known: Known) -> Iterator[Problem]:
    place = ("outputs", name)
    if not output.type or not output.object:
        yield Problem(place, "twins need a type and an object", "Add `type: TYPE` and `object: COLUMN`")
        return
    if output.object not in columns:
        remedy = nearest(output.object, columns)
        yield Problem((*place, "object"), f"there is no column {output.object}", remedy)
    elif columns[output.object] != "string":
        happened = f"{output.object} is not a string, as ids are"
        yield Problem((*place, "object"), happened, f"Use cast({output.object} as string) in a map")
    values = {column: kind for column, kind in columns.items() if column != output.object}
    yield from _are_values(name, values)
    if known.twin_specs is None:
        return
    spec = known.twin_specs.get(output.type)
    if spec is None:
        declare = "Declare one with `catchment register twin-type`"
        remedy = nearest(output.type, known.twin_specs) if known.twin_specs else declare
        yield Problem((*place, "type"), f"there is no type {output.type} of twins", remedy)
    else:
        yield from _fit(query, name, output, values, spec)


def _are_values(name: str, values: Columns) -> Iterator[Problem]:
    """Whether columns can be values of any object."""
    place = ("outputs", name)
    if not values:
        yield Problem(place, "there is no value besides the id", "Let a map box give one")
    for column, kind in values.items():
        if kind not in _VALUES:
            remedy = f"Use cast({column} as string) in a map box, or leave it out there"
            yield Problem(place, f"{column} is {article_of(kind)}, which no twin can have", remedy)


def _fit(query: str, name: str, output: Output, values: Columns, spec: TwinTypeSpec) -> Iterator[Problem]:
    """Whether a type takes these values, and from this query."""
    place = ("outputs", name)
    declared = twin_columns(spec)
    for column, kind in values.items():
        wanted = declared.get(column)
        if wanted is None and not spec.open:
            remedy = "Leave it out with a map box, or add it to the type"
            yield Problem(place, f"the type {output.type} has no value {column}", remedy)
        elif wanted and kind in _VALUES and kind not in _FITTING[wanted]:
            happened = f"{column} is {article_of(kind)}, and of the type {output.type} {article_of(wanted)}"
            yield Problem(place, happened, f"Use cast({column} as {wanted}) in a map box")
    if not any(fnmatchcase(f"query/{query}", pattern) for pattern in spec.writers):
        happened = f"the type {output.type} does not let this query write"
        yield Problem((*place, "type"), happened, f"Add query/{query} to the writers of the type")
