"""Events for tests, as the threshold query writes them, and alerts, as the notifier makes them of events."""

from typing import Any

from catchment.alerts.fold import alert_id
from catchment.alerts.model import Alert, AlertState, Delivery, Event, Notice, Phase, Standing

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


def notice(sequence: int = 1, **fields: Any) -> Notice:
    """A notice about a twin with nothing out of the ordinary, except for what is given."""
    usual: dict[str, Any] = {
        "node": "oslo",
        "site": "oslo",
        "sensor_id": "kiln-1",
        "rule": "twins/notice",
        "timestamp": NOON_MS + sequence,
        "cause": "SENDER",
        "text": "the door stands open",
        "user": "stream/lab",
        "transaction": "t-1",
    }
    return Notice.model_validate({**usual, "sequence": sequence, **fields})


def alert(state: AlertState = AlertState.RAISED, first_ms: int = 1, version: int = 1, **fields: Any) -> Alert:
    """A change of state with nothing out of the ordinary, except for what is given."""
    usual: dict[str, Any] = {
        "at_ms": first_ms + version,
        "sentence": "Oven 3 is hot",
        "channels": ["phone"],
        "node": "oslo",
        "site": "oslo",
        "sensor": "oven-3",
        "sensor_name": "Oven 3",
        "sensor_type": None,
        "device": None,
        "device_name": None,
        "location": None,
        "rule": "too-hot",
        "rule_version": 1,
        "field": "temperature",
        "unit": "C",
        "direction": "ABOVE",
        "threshold": 80.0,
        "latest": 83.1,
        "average": 82.0,
        "peak": 84.25,
        "last_ms": first_ms,
        "exceeded_for_ms": 0,
        "count": 1,
    }
    values = {**usual, **fields, "state": state, "first_ms": first_ms, "version": version}
    key = "/".join(values[name] for name in ("node", "site", "sensor", "rule"))
    standing = Standing(key=key, sequence=1, at_ms=1, first_ms=first_ms)
    return Alert.model_validate({"id": alert_id(standing), **values})


def delivery(of: Alert, attempt: int = 1) -> Delivery:
    return Delivery.model_validate(
        {
            "alert": of.id,
            "state": of.state,
            "channel": "phone",
            "outcome": "failed",
            "attempt": attempt,
            "at_ms": 5,
        }
    )
