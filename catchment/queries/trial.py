"""A query on small tables, in batch: the same frames and operators as in a node, without Kafka."""

import datetime
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses

from catchment.config import PipelineSettings
from catchment.pipeline import session
from catchment.queries.compiler import query_session, settled, streams_of
from catchment.queries.graph import Columns, Graph
from catchment.queries.outputs import sentence_sql
from catchment.queries.tables import TEXT, Row

THREADS = 4
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
Tables = Mapping[str, Sequence[Row]]


class Trial:
    """One run of a query. Nothing is computed until its rows are asked for."""

    def __init__(self, graph: Graph, streams: Mapping[str, DataFrame]) -> None:
        self._graph = graph
        self._streams = streams

    @classmethod
    def on_tables(cls, spark: SparkSession, graph: Graph, rows: Tables) -> "Trial":
        """`rows` are those of inputs and tables, by their names."""
        own = query_session(spark, graph)
        columns = {name: each.columns for name, each in graph.streams.items()}
        columns |= {name: each.columns for name, each in graph.tables.items()}
        frames = {name: _frame(own, those, columns[name]) for name, those in rows.items()}
        return cls(graph, streams_of(graph, frames))

    @property
    def streams(self) -> list[str]:
        """The names of all streams."""
        return [*self._streams]

    def stream(self, name: str) -> list[Row]:
        """The rows that are on a stream in the end."""
        return _collected(settled(self._streams[name]), self._graph.streams[name].columns)

    def output(self, name: str) -> list[Row]:
        """The rows of an output, with its sentence."""
        output = self._graph.query.outputs[name]
        columns = self._graph.streams[output.source].columns
        rows = settled(self._streams[output.source])
        if output.say is None:
            return _collected(rows, columns)
        said = rows.withColumn(TEXT, F.expr(sentence_sql(output.say, columns)))
        return _collected(said, {**columns, TEXT: "string"})


@contextmanager
def trial_session() -> Iterator[SparkSession]:
    """Spark for a trial: the one that this process has, or one of its own."""
    present = SparkSession.getActiveSession()
    if present:
        yield present
        return
    with tempfile.TemporaryDirectory(prefix="catchment-trial-") as folder:
        spark = session.create(PipelineSettings(), THREADS, Path(folder))
        spark.sparkContext.setLogLevel("OFF")
        try:
            yield spark
        finally:
            spark.stop()


def _frame(spark: SparkSession, rows: Sequence[Row], columns: Columns) -> DataFrame:
    """Rows as a frame of the columns that any of them has, or of all."""
    named = [name for name in columns if any(name in row for row in rows)] or list(columns)
    schema = ", ".join(f"{name} {columns[name]}" for name in named)
    return spark.createDataFrame([tuple(row.get(name) for name in named) for row in rows], schema)


def _collected(rows: DataFrame, columns: Columns) -> list[Row]:
    """Times are carried as numbers: Python's would be in the time zone of this machine."""
    plain = [
        F.unix_micros(name).alias(name) if kind == "timestamp" else F.col(name)
        for name, kind in columns.items()
    ]
    return [
        {name: _value(value, columns[name]) for name, value in row.asDict().items()}
        for row in rows.select(*plain).collect()
    ]


def _value(value: Any, kind: str) -> Any:
    if kind == "timestamp" and value is not None:
        return EPOCH + datetime.timedelta(microseconds=value)
    return value
