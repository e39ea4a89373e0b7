"""Objectives of deployed queries: an event when one is missed, and another when it is met again.

They are events like those of thresholds, with the query in the place of the sensor, so that people are told
in the same way.
"""

import io
import struct
import time
from dataclasses import dataclass
from typing import Any

import avro.io

from catchment.alerts.model import Direction, Phase
from catchment.schemas.schema import parse
from catchment.schemas.shipped import THRESHOLD_EVENT, shipped

# No rule of a person can be called so.
RULE = "objective/delay"
_WIRE = struct.Struct(">bI")


@dataclass
class Objective:
    """The delay that one query has to keep to, and how long it has not."""

    site: str
    query: str
    version: int
    limit_ms: float
    _sequence: int = 0
    _is_missed: bool | None = None
    _first_ms: int = 0
    _times: int = 0
    _beyond_ms: float = 0.0
    _most_beyond_ms: float = 0.0

    def observe(self, delay_ms: float | None, at_ms: int | None = None) -> dict[str, Any] | None:
        """The event that a measured delay means, if any.

        The first one is told in any case: what began to be missed before a restart may have ended meanwhile.
        """
        if delay_ms is None:
            return None
        now_ms = time.time_ns() // 1_000_000 if at_ms is None else at_ms
        missed = delay_ms > self.limit_ms
        changed = missed is not self._is_missed
        if changed and (missed or self._is_missed is None):
            self._first_ms, self._times, self._beyond_ms, self._most_beyond_ms = now_ms, 0, 0.0, 0.0
        if missed:
            self._times += 1
            self._beyond_ms += delay_ms - self.limit_ms
            self._most_beyond_ms = max(self._most_beyond_ms, delay_ms - self.limit_ms)
        self._is_missed = missed
        return self._event(Phase.START if missed else Phase.END, delay_ms, now_ms) if changed else None

    def _event(self, phase: Phase, delay_ms: float, now_ms: int) -> dict[str, Any]:
        self._sequence += 1
        return {
            "timestamp": now_ms,
            "temperature_threshold": self.limit_ms,
            "average_transgression": self._beyond_ms / max(1, self._times),
            "max_transgression": self._most_beyond_ms,
            "exceeded_for_ms": now_ms - self._first_ms,
            "sensor_id": self.query,
            "site": self.site,
            "rule": RULE,
            "rule_version": self.version,
            "phase": phase.value,
            "direction": Direction.ABOVE.value,
            "unit": "ms",
            "first_ms": self._first_ms,
            "last_ms": now_ms,
            "latest": delay_ms,
            "count": self._times,
            "sequence": self._sequence,
            "subject": "queries",
            "field": "delay",
            "node": self.site,
            "hysteresis": 0.0,
        }


def encode(event: dict[str, Any]) -> bytes:
    """An event in Confluent's wire format."""
    schema = parse(shipped()[THRESHOLD_EVENT])
    content = io.BytesIO(_WIRE.pack(0, schema.id))
    content.seek(0, io.SEEK_END)
    avro.io.DatumWriter(schema.parsed).write(event, avro.io.BinaryEncoder(content))
    return content.getvalue()
