"""Inputs: from messages of a topic, or rows of a small table, to changes."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.pipeline import operators
from catchment.queries.frames.changes import (
    MESSAGE_TYPE,
    META,
    Scope,
    Taken,
    ddl,
    edge_number,
    from_java,
    on,
    own_scope,
    wide,
    with_columns,
)
from catchment.queries.frames.stages import Port, StatefulBox, shard_of
from catchment.queries.frames.tables import kind_of, table_edge
from catchment.queries.graph import Graph
from catchment.queries.model import InputKind
from catchment.queries.needed import needed_columns
from catchment.records import Kind

READER = "catchment.queries.Input"
TOPICS = {
    InputKind.RECORDS: Kind.RECORDS,
    InputKind.MEASUREMENTS: Kind.MEASUREMENTS,
    InputKind.RESULTS: Kind.RESULTS,
    InputKind.EVENTS: Kind.EVENTS,
    InputKind.ALERTS: Kind.ALERTS,
    InputKind.TWIN_HISTORY: Kind.TWIN_HISTORY,
}
# Of a row that comes from Kafka: its number in its source or topic, and an entry of a table.
NUMBERS = ("_number", "_entry")
# What a gateway sends again after a crash has the same stamp.
_STAMPED = (InputKind.RECORDS, InputKind.MEASUREMENTS)
_AVRO = (InputKind.MEASUREMENTS, InputKind.EVENTS)
# Columns that the reader adds to those of the content.
_ADDED = ("origin", "site", "stream")

Schemas = Mapping[str, Mapping[int, str]]


def reading(graph: Graph, schemas: Schemas, *, ticking: bool) -> dict[str, str]:
    """What a live source is told, so that it makes rows of inputs of records at once: see `found`."""
    return {"reading": READER, "readingSpec": _asked(graph, schemas, ticking=ticking)}


def found(rows: DataFrame, graph: Graph) -> DataFrame:
    """The rows of a source that was told to make them."""
    return _payload(operators.call(READER, "inline", rows), graph)


def read(rows: DataFrame, graph: Graph, schemas: Schemas) -> DataFrame:
    """The rows that Kafka's are for all inputs; `schemas` are those of each subject, by their ids."""
    messages = rows.select(
        "topic",
        "partition",
        "offset",
        F.unix_millis("timestamp").alias("logged_ms"),
        "key",
        "value",
        "headers",
    )
    return _payload(operators.apply(READER, messages, _asked(graph, schemas, ticking=False)), graph)


def _asked(graph: Graph, schemas: Schemas, *, ticking: bool) -> str:
    """What jvm/src/catchment/queries/Input.java reads."""
    inputs: list[dict[str, Any]] = []
    first = 0
    for name in graph.query.inputs:
        inputs.append(_spec(name, graph, schemas) | {"first": first})
        first += len(_columns(graph, name))
    spec = {
        "inputs": inputs,
        "columns": ddl(_wide_columns(graph)),
        "tables": _tables(graph),
        "ticks": Kind.TICKS.topic if ticking else "",
    }
    return orjson.dumps(spec).decode()


def _wide_columns(graph: Graph) -> dict[str, str]:
    """The columns of all inputs, side by side."""
    return {
        wide(name, column): kind
        for name in graph.query.inputs
        for column, kind in _columns(graph, name).items()
    }


def _payload(rows: DataFrame, graph: Graph) -> DataFrame:
    columns = _wide_columns(graph).items()
    return rows.select(
        *META, *NUMBERS, *(from_java(F.col(column), kind).alias(column) for column, kind in columns)
    )


def once_boxes(graph: Graph) -> list[StatefulBox]:
    """What recognises records that come twice, and results that are replaced."""
    boxes = []
    for name, stated in graph.query.inputs.items():
        scope = own_scope(name, carried_columns(graph, name))
        if stated.kind is InputKind.RESULTS:
            boxes.append(_latest(name, scope))
        elif _needs_once(graph, name):
            boxes.append(_once(name, scope))
    return boxes


def carried_columns(graph: Graph, name: str) -> dict[str, str]:
    """The columns of an input that anybody needs."""
    needed = needed_columns(graph, name)
    return {column: kind for column, kind in graph.streams[name].columns.items() if column in needed}


def with_ids(rows: DataFrame, edges: list[str], number: Callable[[str], str]) -> DataFrame:
    """Rows of inputs with their ids: the source and its number."""
    identity = F.col("_id")
    for edge in edges:
        numbered = F.concat("_id", F.lit("#"), F.col(number(edge)).cast("string"))
        identity = F.when(on(edge), numbered).otherwise(identity)
    return with_columns(rows, [identity.alias("_id")], ["_id"])


def given(graph: Graph, frames: Mapping[str, DataFrame]) -> DataFrame:
    """The same of tables with the inputs' columns: every row is there, and has its number."""
    united: DataFrame | None = None
    for name in graph.query.inputs:
        rows = _of_table(graph, name, frames[name])
        united = rows if united is None else united.unionByName(rows, allowMissingColumns=True)
    assert united
    return united


def _of_table(graph: Graph, name: str, table: DataFrame) -> DataFrame:
    columns = graph.streams[name].columns
    numbered = table.withColumn("_given", F.monotonically_increasing_id())
    payload = [_given(column, kind, table).alias(wide(name, column)) for column, kind in columns.items()]
    rows = numbered.select(F.col("_given").cast("string").alias("_id"), *payload)
    time = wide(name, graph.query.inputs[name].time or "origin")
    return rows.select(
        F.lit(None).cast("bigint").alias("_tick_ms"),
        "_id",
        F.lit(1).alias("_sign"),
        F.coalesce(F.unix_micros(F.col(time)), F.lit(0)).alias("_origin_us"),
        F.lit(0).cast("bigint").alias("_version"),
        F.lit(None).cast(MESSAGE_TYPE).alias("_aside"),
        F.lit(edge_number(name)).alias("_edge"),
        *(wide(name, column) for column in columns),
    )


def _given(column: str, kind: str, table: DataFrame) -> Column:
    if column in table.columns:
        return F.col(column).cast(kind)
    missing = F.current_timestamp() if column == "origin" else F.lit(None)
    return missing.cast(kind)


def _columns(graph: Graph, name: str) -> dict[str, str]:
    """Those of the content, and then those that the reader adds."""
    needed = needed_columns(graph, name)
    stream = {
        column: kind
        for column, kind in graph.streams[name].columns.items()
        if column in needed or not _is_added(graph, name, column)
    }
    brought = {column: kind for column, kind in stream.items() if not _is_added(graph, name, column)}
    return brought | {column: kind for column, kind in stream.items() if column not in brought}


def _is_added(graph: Graph, name: str, column: str) -> bool:
    return column in _ADDED and column not in graph.declared[name]


def _spec(name: str, graph: Graph, schemas: Schemas) -> dict[str, Any]:
    """What jvm/src/catchment/queries/InputSpec.java reads."""
    stated = graph.query.inputs[name]
    columns = _columns(graph, name)
    content = {column: kind for column, kind in columns.items() if not _is_added(graph, name, column)}
    return {
        "query": graph.name,
        "input": name,
        "edge": edge_number(name),
        "topic": TOPICS[stated.kind].topic,
        "kind": stated.kind.value,
        "format": "avro" if stated.kind in _AVRO else stated.format.value,
        "selector": stated.selector,
        "names": list(content),
        "types": list(content.values()),
        "added": [column for column in columns if column not in content],
        "inside": "values" if stated.kind is InputKind.TWIN_HISTORY else None,
        "keeps_repeats": stated.repeats == "keep",
        "schemas": {str(number): text for number, text in schemas.get(stated.selector, {}).items()},
    }


def _needs_once(graph: Graph, name: str) -> bool:
    """Whether a record that comes twice would count twice: not if its row only replaces itself."""
    stated = graph.query.inputs[name]
    return stated.kind in _STAMPED and stated.repeats == "drop" and _reaches_state(graph, name)


def _reaches_state(graph: Graph, stream: str) -> bool:
    return any(
        graph.query.boxes[reader].stateful
        or any(_reaches_state(graph, given) for given in graph.query.boxes[reader].streams(reader))
        for reader in graph.query.readers(stream)
    )


def _tables(graph: Graph) -> list[dict[str, Any]]:
    tables = []
    for name, plan in graph.joins.items():
        kind = kind_of(graph.query.tables[plan.right]) if plan.table else None
        if kind:
            tables.append({"topic": kind.topic, "edge": edge_number(table_edge(name))})
    return tables


def once_name(name: str) -> str:
    return f"{name}:once"


def _once(name: str, scope: Scope) -> StatefulBox:
    own = {"_number": Taken(F.col("_number"))} | {column: scope.taken(column) for column in scope.types}

    def spec(at: Mapping[str, int]) -> dict[str, Any]:
        return {"kind": "once", "number_column": at["_number"], "columns": len(own)}

    port = Port(name, shard_of(F.col("_id")), own)
    return StatefulBox(once_name(name), [port], spec, {"_number": "bigint", **scope.types})


def _latest(name: str, scope: Scope) -> StatefulBox:
    own = {"_newest": Taken(F.col("_version"))} | {column: scope.taken(column) for column in scope.types}

    def spec(at: Mapping[str, int]) -> dict[str, Any]:
        return {"kind": "latest", "version_column": at["_newest"], "columns": len(scope.types)}

    port = Port(name, shard_of(F.col("_id")), own)
    return StatefulBox(once_name(name), [port], spec, scope.types)
