"""Rows and delays of every box of deployed queries, which the JVM counts: as figures, and as metrics."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
from prometheus_client import REGISTRY
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from pyspark.sql import SparkSession

from catchment.metrics import MetricKind, declared

Histogram = Sequence[tuple[float, int]]
Figures = dict[str, dict[str, Any]]
# From one bound of delays to the next.
GROWTH = 1.25
_COUNTERS = {
    "rows": "catchment_query_box_rows_total",
    "late": "catchment_query_box_late_total",
    "refused": "catchment_query_box_refused_total",
}
_DELAY = declared("catchment_query_box_delay_seconds", MetricKind.GAUGE)


class Meters(Collector):
    """What was read last, compared with the time before: delays are those of the last seconds."""

    def __init__(self) -> None:
        self._counted: Figures = {}
        self._figures: Figures = {}
        self._read_at = time.monotonic()
        REGISTRY.register(self)

    def read(self, spark: SparkSession) -> None:
        """Reads the meters; called every other second or so."""
        self.take(orjson.loads(spark._jvm.catchment.queries.Meter.figures()))  # type: ignore[union-attr]

    def take(self, counted: Figures) -> None:
        """Takes over what all boxes have counted so far, under `QUERY/BOX`."""
        now = time.monotonic()
        seconds, self._read_at = max(0.001, now - self._read_at), now
        self._figures = {
            name: {**self._figures.get(name, {}), **recent(self._counted.get(name, {}), those, seconds)}
            for name, those in counted.items()
        }
        self._counted = counted

    def of(self, query: str) -> Figures:
        """The figures of a query, by its boxes."""
        prefix = f"{query}/"
        return {
            name.removeprefix(prefix): those
            for name, those in self._figures.items()
            if name.startswith(prefix)
        }

    def collect(self) -> Iterator[Metric]:
        families = {what: _family(name) for what, name in _COUNTERS.items()}
        delay = GaugeMetricFamily(_DELAY.family, _DELAY.meaning, labels=_DELAY.labels)
        for name, those in self._figures.items():
            labels = list(name.split("/", 1))
            for what, family in families.items():
                family.add_metric(labels, those[what])
            if those.get("p50_ms") is not None:
                delay.add_metric(labels, those["p50_ms"] / 1000)
        yield from families.values()
        yield delay

    def close(self) -> None:
        REGISTRY.unregister(self)


def recent(before: Mapping[str, Any], now: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Counts so far, pace and delays since the time before; without new rows delays stay as they were."""
    if before.get("rows", 0) > now["rows"]:
        # It was started anew, and counts from the beginning.
        before = {}
    earlier = dict(before.get("delays_ms", ()))
    grown = [(bound, rows - earlier.get(bound, 0)) for bound, rows in now["delays_ms"]]
    figures = {what: now[what] for what in _COUNTERS}
    figures["rows_per_s"] = round((now["rows"] - before.get("rows", 0)) / seconds, 1)
    if any(rows > 0 for _, rows in grown):
        figures |= {"p50_ms": quantile(grown, 0.5), "p99_ms": quantile(grown, 0.99)}
    return figures


def quantile(histogram: Histogram, share: float) -> float:
    """The delay that this share of rows has at most; bounds grow by a quarter at most, so it is as exact."""
    wanted = share * sum(rows for _, rows in histogram)
    below, previous = 0, 0.0
    for bound, rows in histogram:
        if rows and below + rows >= wanted:
            lower = max(previous, bound / GROWTH)
            return round(lower + (wanted - below) / rows * (bound - lower), 2)
        below += rows
        previous = bound
    return previous


def _family(name: str) -> CounterMetricFamily:
    spec = declared(name, MetricKind.COUNTER)
    return CounterMetricFamily(spec.family, spec.meaning, labels=spec.labels)
