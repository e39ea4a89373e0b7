"""The metrics of all parts in one place, each series with the label `part`."""

from collections.abc import Iterable

from fastapi import APIRouter, Depends
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from catchment import health
from catchment.api.access import allowed
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.config import Config
from catchment.errors import NodeNotRunning
from catchment.metrics import MetricKind, declared
from catchment.security.tokens import Scope

router = APIRouter(tags=["metrics"])

_UP = declared("catchment_part_up", MetricKind.GAUGE)
OTHER_PARTS = ("node", "gateway", "relay", "pipeline", "notify")


class Merged(Collector):
    """Families of the same name from several parts, as one."""

    def __init__(self) -> None:
        self._families: dict[str, Metric] = {}
        self._up = GaugeMetricFamily(_UP.family, _UP.meaning, labels=_UP.labels)

    def add(self, part: str, text: str) -> None:
        self._up.add_metric([part], 1)
        for family in text_string_to_metric_families(text):
            held = self._families.setdefault(
                family.name, Metric(family.name, family.documentation, family.type)
            )
            for sample in family.samples:
                held.samples.append(sample._replace(labels={**sample.labels, "part": part}))

    def add_missing(self, part: str) -> None:
        self._up.add_metric([part], 0)

    def collect(self) -> Iterable[Metric]:
        return [self._up, *self._families.values()]


@router.get(
    "/metrics",
    dependencies=[Depends(allowed(Scope.METRICS_READ))],
    responses=answers(401, 403),
    response_class=PlainTextResponse,
    summary="Metrics of all parts",
    description="In Prometheus' text format. Needs the scope `metrics:read`.",
)
def metrics(services: ServicesOfApp) -> PlainTextResponse:
    services.twins.note()
    return PlainTextResponse(generate_latest(merged(services.config)), media_type=CONTENT_TYPE_LATEST)


def merged(config: Config) -> Merged:
    """Asks every part that reports on this machine."""
    all_parts = Merged()
    all_parts.add("api", health.metrics_text())
    for part in OTHER_PARTS:
        try:
            all_parts.add(part, health.ask(config.paths.socket(part)).metrics)
        except NodeNotRunning:
            all_parts.add_missing(part)
    return all_parts
