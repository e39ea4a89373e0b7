"""Events for tests, as the threshold query writes them."""

from typing import Any

from catchment.alerts.model import Event, Phase

NOON_MS = 1_794_916_800_000


def event(phase: Phase = Phase.START, sequence: int = 1, **fields: Any) -> Event:
    """An event with nothing out of the ordinary, except for what is given."""
    usual: dict[str, Any] = {
        "node": "oslo",
        "site": "oslo",
        "sensor_id": "oven-3",
        "rule": "too-hot",
        "rule_version": 1,
        "direction": "ABOVE",
        "subject": "TemperatureData",
        "field": "temperature",
        "unit": "C",
        "timestamp": NOON_MS + sequence,
        "temperature_threshold": 80.0,
        "hysteresis": 2.0,
        "latest": 83.1,
        "average_transgression": 2.0,
        "max_transgression": 4.25,
        "exceeded_for_ms": 0,
        "first_ms": NOON_MS,
        "last_ms": NOON_MS,
        "count": 1,
    }
    return Event.model_validate({**usual, "phase": phase, "sequence": sequence, **fields})
