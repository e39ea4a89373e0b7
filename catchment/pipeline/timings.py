"""How long rows take inside the Java operators, which count that themselves: a histogram for each query."""

from collections.abc import Iterator
from typing import Any

import orjson
from prometheus_client import REGISTRY
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector
from pyspark.sql import SparkSession

from catchment.metrics import MetricKind, declared

_SPEC = declared("catchment_query_processing_seconds", MetricKind.HISTOGRAM)


class Timings(Collector):
    """What was read last, as a metric."""

    def __init__(self) -> None:
        self._figures: dict[str, dict[str, Any]] = {}
        REGISTRY.register(self)

    def read(self, spark: SparkSession) -> None:
        """Reads the histograms; called every other second or so."""
        self._figures = orjson.loads(spark._jvm.catchment.control.Timing.figures())  # type: ignore[union-attr]

    def collect(self) -> Iterator[HistogramMetricFamily]:
        family = HistogramMetricFamily(_SPEC.family, _SPEC.meaning, labels=_SPEC.labels)
        for query, figures in self._figures.items():
            family.add_metric([query], list(_cumulative(figures["buckets"])), figures["sum_s"])
        yield family

    def close(self) -> None:
        REGISTRY.unregister(self)


def _cumulative(buckets: list[tuple[float | str, int]]) -> Iterator[tuple[str, float]]:
    rows = 0
    for bound, count in buckets:
        rows += count
        yield str(bound), rows
