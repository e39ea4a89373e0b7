"""Every metric that a part shows: declared here once, with what the manual says of it.

A part makes those that are its own, by name; one that is not declared here cannot be made.
"""

from dataclasses import dataclass
from enum import StrEnum

from prometheus_client import Counter, Gauge, Histogram

_REST_S = (0.001, 0.002, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_PEER_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 3)


class MetricKind(StrEnum):
    """Prometheus' name of how a metric behaves."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True)
class MetricSpec:
    """A metric; its name is the one that is asked for, `_total` included."""

    kind: MetricKind
    name: str
    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def family(self) -> str:
        """The name as the library wants it, which adds `_total` itself."""
        return self.name.removesuffix("_total")


def _counter(name: str, meaning: str, *labels: str) -> MetricSpec:
    return MetricSpec(MetricKind.COUNTER, f"catchment_{name}_total", meaning, labels)


def _gauge(name: str, meaning: str, *labels: str) -> MetricSpec:
    return MetricSpec(MetricKind.GAUGE, f"catchment_{name}", meaning, labels)


def _histogram(name: str, meaning: str, *labels: str, buckets: tuple[float, ...] = ()) -> MetricSpec:
    return MetricSpec(MetricKind.HISTOGRAM, f"catchment_{name}", meaning, labels, buckets)


_DECLARED = (
    _gauge("part_up", "1 if the part answers, 0 if not", "part"),
    _counter("gateway_received_records", "messages that became records"),
    _counter("gateway_delivered_records", "records that Kafka has confirmed"),
    _gauge("gateway_queued_records", "records that wait for Kafka's confirmation"),
    _gauge("gateway_spool_bytes", "what stands in the spool"),
    _gauge("gateway_spool_fill", "how full the spool is, from 0 to 1"),
    _gauge("gateway_connections", "providers that are connected now"),
    _counter("gateway_refused_connections", "connections refused for lack of a registered identity"),
    _counter("gateway_http_requests", "HTTP requests answered by the gateway", "status"),
    _gauge("gateway_mqtt_connected", "1 if the MQTT broker is connected, 0 if not"),
    _counter("gateway_dead_letters", "messages that went to the dead letters", "reason"),
    _gauge("query_rows_in_per_second", "rows that came in on the query's topics", "query"),
    _gauge("query_rows_out_per_second", "rows that the query wrote", "query"),
    _gauge("query_delay_seconds", "from the newest record's origin to the result it caused", "query"),
    _gauge("query_restarts", "times that the query had to be started again", "query"),
    _counter("query_box_rows", "rows that left a box of a deployed query", "query", "box"),
    _counter("query_box_late", "rows that came after their window had closed", "query", "box"),
    _counter("query_box_refused", "rows that a box could not read", "query", "box"),
    _gauge(
        "query_box_delay_seconds",
        "median from a record's origin to where it leaves the box, lately",
        "query",
        "box",
    ),
    _histogram(
        "query_processing_seconds",
        "time in the operator: of `twin-split` for a message, of `twins` for a change; buckets from 50 µs",
        "query",
    ),
    _gauge("relay_up", "1 while the site is being relayed", "site"),
    _gauge("relay_lag_records", "records at the site that are not at the centre yet", "site"),
    _gauge("relay_delay_seconds", "age of the newest relayed record when it was relayed", "site"),
    _gauge("relay_relayed_records", "records relayed since the relay of the site started", "site"),
    _gauge("relay_incidents", "sources found truncated, recreated or set back, ever", "site"),
    _gauge("relay_restarts", "times that the relay of the site had to begin again", "site"),
    _gauge("notify_alerts", "alerts raised or cleared since the notifier started"),
    _gauge("notify_unreadable_events", "events that could not be read, since then"),
    _gauge("notify_delivered", "messages delivered since then", "channel"),
    _gauge("notify_failed_attempts", "attempts that failed since then", "channel"),
    _gauge("notify_channel_up", "1 if the last attempt went through", "channel"),
    _counter("api_requests", "requests answered", "method", "status"),
    _histogram(
        "api_response_seconds",
        "time until a response began; `route` is the address as the API declares it",
        "method",
        "route",
        buckets=_REST_S,
    ),
    _gauge("api_twins_held", "twins that this instance has"),
    _gauge(
        "api_twins_lag_records",
        "records of the changelog that it has still to read before it answers for all of its share",
    ),
    _gauge("api_twins_missing_partitions", "partitions of the twins that no instance answers for"),
    _gauge("api_twins_instances", "instances of `catchment serve` that share the twins"),
    _counter(
        "api_twins_peer_requests",
        "requests to other instances: `get`, `ask` and `all`, `answered` or `lost`",
        "kind",
        "outcome",
    ),
    _histogram("api_twins_peer_seconds", "time until another instance had answered", "kind", buckets=_PEER_S),
)
METRICS: dict[str, MetricSpec] = {spec.name: spec for spec in _DECLARED}


def declared(name: str, kind: MetricKind) -> MetricSpec:
    """The metric of a name, which has to be of this kind."""
    spec = METRICS[name]
    assert spec.kind is kind, f"{name} is declared as a {spec.kind}"
    return spec


def counter(name: str) -> Counter:
    spec = declared(name, MetricKind.COUNTER)
    return Counter(spec.family, spec.meaning, spec.labels)


def gauge(name: str) -> Gauge:
    spec = declared(name, MetricKind.GAUGE)
    return Gauge(spec.family, spec.meaning, spec.labels)


def histogram(name: str) -> Histogram:
    spec = declared(name, MetricKind.HISTOGRAM)
    return Histogram(spec.family, spec.meaning, spec.labels, buckets=spec.buckets)
