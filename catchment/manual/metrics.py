"""The table of the page of metrics, made of their declarations."""

from catchment.metrics import METRICS, MetricSpec

# Every series has it, so that it is said once.
_COMMON_LABEL = "part"


def metrics() -> str:
    """Every metric of every part."""
    head = "| metric | kind | further labels | meaning |\n|---|---|---|---|\n"
    return head + "".join(_row(spec) for spec in METRICS.values())


def _row(spec: MetricSpec) -> str:
    labels = ", ".join(f"`{label}`" for label in spec.labels if label != _COMMON_LABEL)
    return f"| `{spec.name}` | {spec.kind} | {labels} | {spec.meaning} |\n"
