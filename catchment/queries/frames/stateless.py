"""Boxes without state, which are plain Spark SQL: filter, map, split and union."""

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.queries.frames.changes import Scope, edges, filled, on, spread_over, wide, with_columns
from catchment.queries.model import Filter, Map, Split


def filtered(rows: DataFrame, edge: str, box: Filter, source: Scope) -> DataFrame:
    """Rows of an edge go on only if the condition is true."""
    return rows.where(F.when(on(edge), is_true(box.where, source)).otherwise(F.lit(True)))


def mapped(
    rows: DataFrame, edge: str, name: str, box: Map, select: Mapping[str, str], source: Scope, given: Scope
) -> DataFrame:
    """Rows of an edge get the columns of the box; with `each`, there is one for every element of an array."""
    if box.each:
        ((column, array),) = box.each.items()
        place = wide(name, f"each_{column}")
        rows = _exploded(rows, edge, place, source.expression(array))
        source = Scope({**source.places, column: place}, source.types)
    columns = {
        given.places[name]: F.when(on(edge), source.expression(sql).cast(given.types[name]))
        for name, sql in select.items()
    }
    return filled(rows, columns)


def split_up(
    rows: DataFrame, edge: str, box: Split, source: Scope, readers: Mapping[str, list[str]]
) -> DataFrame:
    """Rows of an edge go to the readers of the first part whose condition is true."""
    targets = edges(readers[box.otherwise] if box.otherwise else [])
    for part, condition in reversed(box.into.items()):
        targets = F.when(is_true(condition, source), edges(readers[part])).otherwise(targets)
    return spread_over(rows, F.when(on(edge), targets).otherwise(F.array("_edge")))


def united(rows: DataFrame, coming: Sequence[str], sources: Sequence[Scope], given: Scope) -> DataFrame:
    """Rows of several edges get the same columns; the number of its branch is part of a row's id."""
    columns = {
        given.places[name]: _either(coming, [source.column(name).cast(kind) for source in sources])
        for name, kind in given.types.items()
    }
    identities = [F.concat(F.lit(f"{edge.rpartition('/')[2]}:"), F.col("_id")) for edge in coming]
    return filled(rows, {**columns, "_id": _either(coming, identities)})


def _either(coming: Sequence[str], columns: Sequence[Column]) -> Column:
    first = F.when(on(coming[0]), columns[0])
    for edge, column in zip(coming[1:], columns[1:], strict=True):
        first = first.when(on(edge), column)
    return first


def is_true(condition: str, source: Scope) -> Column:
    """Whether a condition holds; if that is not known, it does not."""
    return F.coalesce(source.expression(condition), F.lit(False))


def _exploded(rows: DataFrame, edge: str, name: str, array: Column) -> DataFrame:
    # Rows of other edges have nothing to take apart, and have to pass all the same.
    elements = F.when(on(edge), array).otherwise(F.array(F.lit(None)))
    kept = [column for column in rows.columns if column != name]
    exploded = rows.select(*kept, F.posexplode(elements).alias("_place", name))
    numbered = F.concat("_id", F.lit("."), F.col("_place").cast("string"))
    identity = F.when(on(edge), numbered).otherwise(F.col("_id")).alias("_id")
    return with_columns(exploded, [identity], ["_id", "_place"])
