"""The bridge to the Java operators: keyed state that real-time mode can run."""

from typing import Any

from py4j.java_gateway import JavaClass
from pyspark.sql import DataFrame


def apply(operator: str, frame: DataFrame, *parameters: Any) -> DataFrame:
    """Runs `operator` (a class under jvm/ with a static `apply`) over a frame, batch or live."""
    spark = frame.sparkSession
    java_class = JavaClass(operator, spark._jvm._gateway_client)  # type: ignore[union-attr]
    return DataFrame(java_class.apply(frame._jdf, *parameters), spark)
