"""From an event and what is registered to words that a person understands."""

import datetime
from dataclasses import dataclass

from catchment.alerts.model import AlertState, Cause, Direction, Event, Notice
from catchment.alerts.template import fill

DEFAULT = {
    AlertState.RAISED: "$sensor ($place): $what since $since; now $value, $statistics.",
    AlertState.CLEARED: "$sensor ($place): $what, after $duration; $statistics.",
}
TEST = "This is a test of the channel $channel by Catchment at $site. Nothing has happened."

_SYMBOLS = {"C": "°C", "F": "°F"}
_SIDES = {Direction.ABOVE: ("above", "maximum"), Direction.BELOW: ("below", "minimum")}
_STEPS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


@dataclass(frozen=True)
class Subject:
    """What an event is about, as far as it is registered."""

    sensor_name: str
    sensor_type: str | None = None
    device: str | None = None
    device_name: str | None = None
    location: str | None = None


def sentence(event: Event, state: AlertState, subject: Subject, template: str = "") -> str:
    """What people are told, in the rule's words or in ours."""
    return fill(template or DEFAULT[state], facts(event, state, subject))


def notice_sentence(notice: Notice) -> str:
    """What people are told of a twin."""
    said = (
        notice.text if notice.cause is Cause.SENDER else f"{notice.user} sent what is refused: {notice.text}"
    )
    return f"{notice.sensor_id} (site {notice.site}): {said}"


def facts(event: Event, state: AlertState, subject: Subject) -> dict[str, str]:
    """Every name of a template; what is not registered is empty."""
    side, extreme = _SIDES[event.direction]
    average, peak = with_unit(average_of(event), event.unit), with_unit(peak_of(event), event.unit)
    threshold = with_unit(event.temperature_threshold, event.unit)
    still = "" if state is AlertState.RAISED else "no longer "
    places = (subject.device_name, subject.location, f"site {event.site}")
    return {
        "state": state.value,
        "what": f"{event.field} {still}{side} {threshold}",
        "sensor": subject.sensor_name,
        "sensor_id": event.sensor_id,
        "sensor_type": subject.sensor_type or "",
        "device": subject.device_name or "",
        "location": subject.location or "",
        "site": event.site,
        "place": ", ".join(place for place in places if place),
        "rule": event.rule,
        "node": event.node,
        "field": event.field,
        "threshold": threshold,
        "value": with_unit(event.latest, event.unit),
        "average": average,
        "peak": peak,
        "statistics": f"average {average}, {extreme} {peak}",
        "unit": event.unit,
        "since": moment(event.first_ms),
        "duration": duration(event.exceeded_for_ms),
        "count": str(event.count),
    }


def average_of(event: Event) -> float:
    """The mean value: transgressions are told as distances beyond the threshold."""
    return _beyond(event, event.average_transgression)


def peak_of(event: Event) -> float:
    """The value furthest beyond the threshold."""
    return _beyond(event, event.max_transgression)


def _beyond(event: Event, distance: float) -> float:
    outwards = 1 if event.direction is Direction.ABOVE else -1
    return event.temperature_threshold + outwards * distance


def with_unit(value: float, unit: str) -> str:
    """A number as people write it: two decimals at most, more only for what is smaller than one."""
    number = f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"
    if "." in number and "e" not in number:
        number = number.rstrip("0").rstrip(".")
    return f"{number} {_SYMBOLS.get(unit, unit)}".rstrip()


def duration(milliseconds: int) -> str:
    """The two largest steps of a time: `12 min 5 s`."""
    left = max(0, round(milliseconds / 1000))
    parts: list[str] = []
    for size, name in _STEPS:
        amount, left = divmod(left, size)
        if amount or parts:
            parts.append(f"{amount} {name}" if amount else "")
    return " ".join(part for part in parts[:2] if part) or "0 s"


def moment(milliseconds: int) -> str:
    """A time in UTC; a clock that is far off is shown as it is."""
    try:
        time = datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC)
    except (ValueError, OverflowError, OSError):
        return f"{milliseconds} ms since 1970"
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"
