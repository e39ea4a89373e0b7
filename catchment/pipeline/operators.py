"""The bridge to the Java operators: keyed state that real-time mode can run."""

from typing import Any

from py4j.java_gateway import JavaClass
from pyspark.sql import Column, DataFrame
from pyspark.sql.classic.column import Column as JavaColumn
from pyspark.sql.streaming.readwriter import DataStreamWriter

STAMPS = "catchment.control.Stamps"


def apply(operator: str, frame: DataFrame, *parameters: Any) -> DataFrame:
    """Runs `operator` (a class under jvm/ with a static `apply`) over a frame, batch or live."""
    spark = frame.sparkSession
    java_class = JavaClass(operator, spark._jvm._gateway_client)  # type: ignore[union-attr]
    return DataFrame(java_class.apply(frame._jdf, *parameters), spark)


def call(operator: str, method: str, frame: DataFrame) -> DataFrame:
    """What another static method of an operator makes of a frame."""
    spark = frame.sparkSession
    java_class = JavaClass(operator, spark._jvm._gateway_client)  # type: ignore[union-attr]
    return DataFrame(getattr(java_class, method)(frame._jdf), spark)


def stamps(frame: DataFrame) -> Column:
    """The stamps among the headers of records; null where there is none."""
    return column(STAMPS, frame, frame["headers"])


def writing(rows: DataFrame, writer: str, *parameters: Any) -> DataStreamWriter:
    """What hands rows to `writer`, a class under jvm/ that takes them in Spark's own form."""
    jvm: Any = rows.sparkSession._jvm
    java_writer = JavaClass(writer, jvm._gateway_client)(*parameters)
    made = rows.writeStream
    made._jwrite = jvm.catchment.control.SparkRows.writing(rows._jdf, java_writer)
    return made


def column(operator: str, frame: DataFrame, of: Column, *parameters: Any) -> Column:
    """What `operator` (a class under jvm/ with a static `of`) makes of a column of a frame."""
    java_class = JavaClass(operator, frame.sparkSession._jvm._gateway_client)  # type: ignore[union-attr]
    return JavaColumn(java_class.of(of._jc, *parameters))
