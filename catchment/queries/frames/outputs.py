"""Outputs: from changes to messages for Kafka's topics."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.pipeline import operators
from catchment.queries.frames.changes import Scope, on, wide, with_columns
from catchment.queries.model import Destination, Output
from catchment.queries.outputs import sentence_sql
from catchment.records import (
    ORIGIN_HEADER,
    REASON_HEADER,
    STAMP_HEADER,
    STAMP_VERSION,
    TABLE_HEADER,
    TOPIC_HEADER,
    VERSION_HEADER,
    Kind,
    Source,
)
from catchment.schemas.schema import parse
from catchment.schemas.shipped import TWIN_NOTICE, shipped

NOTICES = "catchment.queries.Notices"
JSON_ROW = "catchment.queries.JsonRow"
QUERY_HEADER = "catchment-query"
TEXT = "text"
_TIME_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX"
_TWIN_JSON = {"timestampFormat": _TIME_FORMAT}


def key_prefix(site: str, query: str, output: str) -> str:
    """How the keys of an output's results begin; the row's id follows."""
    return f"{site}/{query}/{output}/"


@dataclass(frozen=True)
class Leaving:
    """Rows that leave a query by an output: they are on this edge, and have these columns."""

    site: str
    query: str
    name: str
    output: Output
    edge: str
    source: Scope
    # Of the lake: what the table is like, for whoever writes it.
    table: str = ""


def left(rows: DataFrame, leaving: Leaving) -> DataFrame:
    """Rows of an edge as messages, which pass all that is still to come."""
    rows, topic, key, value, headers = _WRITERS[leaving.output.to](rows, leaving)
    message = F.struct(
        topic.alias("topic"),
        key.cast("binary").alias("key"),
        value.alias("value"),
        headers.alias("headers"),
    )
    aside = F.when(on(leaving.edge), message).otherwise(F.col("_aside")).alias("_aside")
    nowhere = F.when(~on(leaving.edge), F.col("_edge")).alias("_edge")
    return with_columns(rows, [aside, nowhere], ["_aside", "_edge"])


Written = tuple[DataFrame, Column, Column, Column, Column]


def _to_results(rows: DataFrame, leaving: Leaving) -> Written:
    """A message for every change: the newest row of its id, or nothing if that was withdrawn."""
    payload = [leaving.source.column(name).alias(name) for name in leaving.source.types]
    said = [_sentence(leaving).alias(TEXT)] if leaving.output.say else []
    columns = {**leaving.source.types, **({TEXT: "string"} if leaving.output.say else {})}
    ddl = ", ".join(f"`{name}` {kind}" for name, kind in columns.items())
    written = operators.column(JSON_ROW, rows, F.struct(*payload, *said), ddl)
    value = F.when(F.col("_sign") > 0, written)
    key = F.concat(F.lit(key_prefix(leaving.site, leaving.query, leaving.name)), F.col("_id"))
    return rows, F.lit(Kind.RESULTS.topic), key, value, _headers(leaving)


def _to_alerts(rows: DataFrame, leaving: Leaving) -> Written:
    """An event for every row that comes to be there: people are told its sentence, once."""
    schema = parse(shipped()[TWIN_NOTICE])
    there = rows.where(~on(leaving.edge) | (F.col("_sign") > 0))
    said = with_columns(there, [F.when(on(leaving.edge), _sentence(leaving)).alias("_text")])
    told = operators.apply(NOTICES, said, schema.text, schema.id, leaving.site, leaving.query, leaving.name)
    notice = wide("_notice", leaving.name)
    told = told.withColumnRenamed("_notice", notice).drop("_text")
    key = F.lit(f"{leaving.site}/{leaving.name}")
    return told, F.lit(Kind.EVENTS.topic), key, F.col(notice), _headers(leaving)


def _to_twins(rows: DataFrame, leaving: Leaving) -> Written:
    """A change of an object for every row that is there: its columns are the object's values."""
    output, source = leaving.output, leaving.source
    assert output.object
    there = rows.where(~on(leaving.edge) | (F.col("_sign") > 0))
    values = F.struct(*(_value(source, column) for column in source.types if column != output.object))
    change = F.struct(
        F.lit(f"query/{leaving.query}").alias("user"),
        F.col("_id").alias("transaction"),
        F.expr("_origin_us div 1000").alias("at_ms"),
        F.struct(
            F.lit("put").alias("action"), F.lit(output.type).alias("type"), values.alias("values")
        ).alias("change"),
    )
    value = F.to_json(change, _TWIN_JSON).cast("binary")
    named = source.column(output.object).isNotNull()
    key = F.when(named, F.concat(F.lit(f"{leaving.site}/"), source.column(output.object)))
    topic = F.when(named, F.lit(Kind.TWIN_CHANGES.topic)).otherwise(F.lit(Kind.DEADLETTER.topic))
    headers = F.when(named, _stamp(leaving)).otherwise(_nameless(leaving))
    return there, topic, key.otherwise(F.lit(output_name(leaving))), value, headers


_WRITERS: dict[Destination, Callable[[DataFrame, Leaving], Written]] = {
    Destination.RESULTS: _to_results,
    Destination.LAKE: _to_results,
    Destination.ALERTS: _to_alerts,
    Destination.TWINS: _to_twins,
}


def _sentence(leaving: Leaving) -> Column:
    return leaving.source.expression(sentence_sql(leaving.output.say or "", leaving.source.types))


def _value(source: Scope, column: str) -> Column:
    """What becomes of a value: what is null is taken away."""
    is_null = F.when(source.column(column).isNull(), F.lit(True))
    return F.struct(source.column(column).alias("set"), is_null.alias("unset")).alias(column)


def _stamp(leaving: Leaving) -> Column:
    """Twins take a source's changes in the order of their numbers: that of versions."""
    identity = Source(leaving.site, "queries", 0, f"{leaving.query}/{leaving.name}").identity
    numbers = [F.unhex(F.lpad(F.hex(F.col(name)), 16, "0")) for name in ("_version", "_origin_us")]
    stamp = F.concat(F.lit(bytes([STAMP_VERSION])), *numbers, F.lit(identity))
    return F.array(F.struct(F.lit(STAMP_HEADER).alias("key"), stamp.alias("value")))


def output_name(leaving: Leaving) -> str:
    return f"{leaving.query}/{leaving.name}"


def _nameless(leaving: Leaving) -> Column:
    """Why a row is no change of an object: nobody knows of which."""
    reason = f"query {leaving.query}, output {leaving.name}: {leaving.output.object} is null"
    return _in_kafka(
        {REASON_HEADER: F.lit(reason), TOPIC_HEADER: F.lit(Kind.TWIN_CHANGES.topic)},
    )


def _headers(leaving: Leaving) -> Column:
    headers = {
        VERSION_HEADER: F.col("_version").cast("string"),
        ORIGIN_HEADER: F.col("_origin_us").cast("string"),
        QUERY_HEADER: F.lit(leaving.query),
    }
    if leaving.table:
        headers[TABLE_HEADER] = F.lit(leaving.table)
    return _in_kafka(headers)


def _in_kafka(headers: Mapping[str, Column]) -> Column:
    return F.array(
        *(
            F.struct(F.lit(name).alias("key"), value.cast("binary").alias("value"))
            for name, value in headers.items()
        )
    )
