"""Simulated temperature sensors, one or thousands: lines of JSON through the gateway's TLS listener."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

import orjson

from catchment.client import Session
from catchment.config import Config
from catchment.schemas.shipped import TEMPERATURE
from catchment.security.authority import Authority
from catchment.security.providers import Providers
from catchment.simulate.punctual import Punctual
from catchment.simulate.temperature import Curve, Unit

STREAM_PREFIX = "sensors-"
# What `--register` declares, beside the sensors themselves.
TYPE, DEVICE, MAPPING = "simulated-temperature", "simulator", "simulated"


@dataclass(frozen=True)
class Plant:
    """All simulated sensors. Each belongs to one provider, whose stream carries the readings of many."""

    name: str
    count: int
    providers: int
    curve: Curve
    unit: Unit
    interval_ms: int
    seed: int

    def sensors(self) -> list[str]:
        """The ids: the name itself for one, numbered for several."""
        if self.count == 1:
            return [self.name]
        return [f"{self.name}-{number:05}" for number in range(1, self.count + 1)]

    def of_provider(self, provider: int) -> list[str]:
        return self.sensors()[provider :: self.providers]

    def stream(self, provider: int) -> str:
        return f"{STREAM_PREFIX}{self.name}-{provider + 1}"


class Readings:
    """The lines of one provider: its sensors in turn, spread over the interval, from a moment on."""

    def __init__(self, plant: Plant, provider: int, began_ms: int) -> None:
        self._plant = plant
        self._sensors = plant.of_provider(provider)
        self.began_ms = began_ms

    @property
    def rate_per_s(self) -> float:
        return len(self._sensors) * 1000 / self._plant.interval_ms

    def lines(self, first: int, count: int) -> bytes:
        """Lines number `first` and following, each with its newline."""
        return b"".join(self._line(number - 1) for number in range(first, first + count))

    def _line(self, number: int) -> bytes:
        plant, sensor = self._plant, self._sensors[number % len(self._sensors)]
        elapsed_ms = number * plant.interval_ms // len(self._sensors)
        value = plant.curve.reading(elapsed_ms / 1000, f"{plant.seed}/{sensor}/{number}")
        reading = {
            "sensor_id": sensor,
            "timestamp": self.began_ms + elapsed_ms,
            "temperature": round(value, 3),
            "unit": plant.unit,
        }
        return orjson.dumps(reading, option=orjson.OPT_APPEND_NEWLINE)


async def send(
    config: Config, plant: Plant, count: int, stop: asyncio.Event, on_safe: Callable[[int], None]
) -> None:
    """Sends readings until there were `count` in all (0: without end), or `stop` is set."""
    authority = Authority(config.paths.identities, config.hostnames)
    providers = Providers(config.paths.providers)
    began_ms = time.time_ns() // 1_000_000
    senders = []
    for provider in range(plant.providers):
        share = count // plant.providers + (provider < count % plant.providers)
        if count == 0 or share:
            identity = providers.add(plant.stream(provider), authority)
            readings = Readings(plant, provider, began_ms)
            senders.append(Punctual(config, readings, share, identity, stop, on_safe).run())
    await asyncio.gather(*senders)


def register(session: Session, plant: Plant) -> None:
    """Registers the sensors, and all that is needed to make measurements of what they send."""
    session.put(
        f"/api/v1/sensor-types/{TYPE}",
        {"name": "Simulated temperature", "unit": plant.unit, "subject": TEMPERATURE},
    )
    session.put(f"/api/v1/devices/{DEVICE}", {"name": "Simulator", "location": "Nowhere"})
    for sensor in plant.sensors():
        session.put(
            f"/api/v1/sensors/{sensor}", {"name": sensor, "device_id": DEVICE, "sensor_type_id": TYPE}
        )
    session.put(
        f"/api/v1/mappings/{MAPPING}",
        {
            "streams": f"{STREAM_PREFIX}*",
            "subject": TEMPERATURE,
            "sensor": {"field": "sensor_id"},
            "timestamp": {"field": "timestamp"},
        },
    )
