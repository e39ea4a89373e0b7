"""What rules mean, said in the plainest way: for one sensor, from readings and changes of rules to events.

It keeps whole lists where the operator keeps sums, and looks at everything again where the operator goes on.
"""

from dataclasses import dataclass, field
from typing import Any

from catchment.alerts.rules import Rule


@dataclass(frozen=True)
class Reading:
    """A measurement of the one sensor; its source and number are those of its stamp."""

    source: str
    sequence: int
    origin_ms: int
    timestamp: int
    temperature: float
    unit: str

    @property
    def ms(self) -> int:
        return min(self.timestamp, self.origin_ms)


@dataclass(frozen=True)
class Change:
    """A rule that was declared, or removed."""

    id: str
    rule: Rule | None


@dataclass
class Transgression:
    """Readings since a value went beyond a rule's threshold, in the order in which they came."""

    rule: Rule
    times: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    newest_value: float = 0.0
    told_ms: int | None = None

    def event(self, phase: str, sequence: int, ms: int) -> dict[str, Any]:
        threshold, sign = threshold_of(self.rule)
        beyond = [(value - threshold) if sign > 0 else (threshold - value) for value in self.values]
        return {
            "phase": phase,
            "sequence": sequence,
            "timestamp": ms,
            "rule": self.rule.id,
            "rule_version": self.rule.version,
            "direction": "ABOVE" if sign > 0 else "BELOW",
            "temperature_threshold": threshold,
            "first_ms": self.times[0],
            "last_ms": max(self.times),
            "exceeded_for_ms": ms - self.times[0],
            "count": len(self.values),
            "latest": self.newest_value,
            "average_transgression": total(beyond) / len(beyond),
            "max_transgression": max(beyond),
        }


class Model:
    """All rules on one sensor."""

    def __init__(self) -> None:
        self.rules: dict[str, Rule] = {}
        self.seen: set[tuple[str, int]] = set()
        self.times: list[int] = []
        self.open: dict[str, Transgression] = {}
        self.told: list[dict[str, Any]] = []

    def take(self, step: Reading | Change) -> None:
        if isinstance(step, Change):
            self.change(step)
        elif self.rules and not any(
            source == step.source and sequence >= step.sequence for source, sequence in self.seen
        ):
            self.seen.add((step.source, step.sequence))
            for rule in self.rules.values():
                self.judge(rule, step)
            self.times.append(step.ms)

    def change(self, change: Change) -> None:
        ended = self.open.pop(change.id, None)
        if ended:
            self.tell(ended, "END", max(ended.times))
        self.rules.pop(change.id, None)
        if change.rule and change.rule.enabled:
            self.rules[change.id] = change.rule
            self.rules = dict(sorted(self.rules.items()))

    def judge(self, rule: Rule, reading: Reading) -> None:
        value = converted(reading.temperature, reading.unit, rule.unit)
        if value is None:
            return
        current = self.open.get(rule.id)
        late = reading.ms < max(self.times, default=reading.ms)
        if late:
            if current and reading.ms >= current.times[0] and not is_back(rule, value):
                current.times.append(reading.ms)
                current.values.append(value)
            return
        if current is None:
            if not is_beyond(rule, value):
                return
            current = self.open[rule.id] = Transgression(rule)
        elif is_back(rule, value):
            del self.open[rule.id]
            self.tell(current, "END", reading.ms)
            return
        current.times.append(reading.ms)
        current.values.append(value)
        current.newest_value = value
        self.tell_of(current, reading.ms)

    def tell_of(self, current: Transgression, ms: int) -> None:
        rule = current.rule
        if current.told_ms is None:
            if ms - current.times[0] >= rule.min_duration_s * 1000:
                current.told_ms = ms
                self.tell(current, "START", ms)
        elif rule.lasting_every_s and ms - current.told_ms >= rule.lasting_every_s * 1000:
            current.told_ms = ms
            self.tell(current, "LASTING", ms)

    def tell(self, current: Transgression, phase: str, ms: int) -> None:
        if phase == "END" and current.told_ms is None:
            return
        earlier = [event for event in self.told if event["rule"] == current.rule.id]
        self.told.append(current.event(phase, len(earlier) + 1, ms))


def threshold_of(rule: Rule) -> tuple[float, int]:
    """The threshold, and on which side of it a transgression is."""
    if rule.above is not None:
        return rule.above, 1
    assert rule.below is not None
    return rule.below, -1


def is_beyond(rule: Rule, value: float) -> bool:
    threshold, sign = threshold_of(rule)
    return value > threshold if sign > 0 else value < threshold


def is_back(rule: Rule, value: float) -> bool:
    threshold, sign = threshold_of(rule)
    return value < threshold - rule.hysteresis if sign > 0 else value > threshold + rule.hysteresis


def converted(value: float, unit: str, wanted: str | None) -> float | None:
    """A temperature in another unit; None where there is no way."""
    if wanted is None or unit == wanted:
        return value
    if wanted not in ("C", "F", "K"):
        return None
    celsius = {"C": value, "F": (value - 32) * 5 / 9, "K": value - 273.15}[unit]
    return {"C": celsius, "F": celsius * 9 / 5 + 32, "K": celsius + 273.15}[wanted]


def total(values: list[float]) -> float:
    """The sum, added one after the other: Python's own is more exact than that of a stream can be."""
    result = 0.0
    for value in values:
        result += value
    return result
