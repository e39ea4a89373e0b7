"""Simulated devices with objects: messages to digital twins, through the gateway's TLS listener."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import orjson

from catchment.client import Session
from catchment.config import Config
from catchment.security.authority import Authority
from catchment.security.providers import Providers
from catchment.simulate.punctual import Punctual
from catchment.twins.model import Action, FromStreams, TwinFeedSpec, TwinTypeSpec, ValueKind, ValueSpec

STREAM_PREFIX = "twins-"
# What `--declare` declares.
TYPE, FEED = "simulated", "simulated"
VALUE, COUNT = "value", "count"
HIGHEST = 100.0
DIGITS = 3


@dataclass(frozen=True)
class Fleet:
    """All simulated devices; each speaks of all its objects once in an interval."""

    name: str
    devices: int
    objects: int
    interval_ms: int
    seed: int

    def stream(self, device: int) -> str:
        return f"{STREAM_PREFIX}{self.name}-{device + 1}"

    def objects_of(self, device: int) -> list[str]:
        """The ids of a device's objects."""
        return [f"{self.name}-{device + 1}-{number}" for number in range(1, self.objects + 1)]

    def share(self, device: int, count: int) -> int:
        """How many of `count` messages in all fall to a device."""
        return count // self.devices + (device < count % self.devices)


class Messages:
    """The lines of one device: each gives all its objects a random value, and adds 1 to their counters."""

    def __init__(self, fleet: Fleet, device: int, began_ms: int) -> None:
        self._fleet = fleet
        self._device = device
        self._objects = fleet.objects_of(device)
        # Spread over the interval, as devices that know nothing of each other are.
        self.began_ms = began_ms + device * fleet.interval_ms // fleet.devices

    @property
    def rate_per_s(self) -> float:
        return 1000 / self._fleet.interval_ms

    def lines(self, first: int, count: int) -> bytes:
        """Lines number `first` and following, each with its newline."""
        return b"".join(
            orjson.dumps(self.message(number), option=orjson.OPT_APPEND_NEWLINE)
            for number in range(first, first + count)
        )

    def message(self, number: int) -> dict[str, object]:
        """What the device says the `number`th time."""
        name = f"{self._fleet.stream(self._device)}-{number}"
        chance = random.Random(f"{self._fleet.seed}/{name}")  # noqa: S311 - values, not secrets
        return {
            "transaction": name,
            "objects": {each: change(chance.uniform(0, HIGHEST)) for each in self._objects},
        }


def change(value: float) -> dict[str, object]:
    """What is said of one object."""
    values = {VALUE: {"set": round(value, DIGITS)}, COUNT: {"add": 1}}
    return {"action": Action.PUT, "type": TYPE, "values": values}


def simulated_type() -> TwinTypeSpec:
    """What simulated objects are like."""
    return TwinTypeSpec(
        name="Simulated",
        values={
            VALUE: ValueSpec(kind=ValueKind.NUMBER, min=0, max=HIGHEST),
            COUNT: ValueSpec(kind=ValueKind.INTEGER, min=0),
        },
        writers=[f"stream/{STREAM_PREFIX}*"],
    )


def simulated_feed() -> TwinFeedSpec:
    """That messages of simulated devices are about twins."""
    return TwinFeedSpec(source=FromStreams(streams=f"{STREAM_PREFIX}*"))


def declare(session: Session) -> None:
    """Declares both at a node."""
    session.put(f"/api/v1/twin-types/{TYPE}", simulated_type().model_dump(mode="json", exclude_none=True))
    session.put(f"/api/v1/twin-feeds/{FEED}", simulated_feed().model_dump(mode="json", exclude_none=True))


async def send(
    config: Config, fleet: Fleet, count: int, stop: asyncio.Event, on_safe: Callable[[int], None]
) -> None:
    """Sends messages until there were `count` in all (0: without end), or `stop` is set."""
    authority = Authority(config.paths.identities, config.hostnames)
    providers = Providers(config.paths.providers)
    began_ms = time.time_ns() // 1_000_000
    senders = []
    for device in range(fleet.devices):
        share = fleet.share(device, count)
        if count == 0 or share:
            identity = providers.add(fleet.stream(device), authority)
            messages = Messages(fleet, device, began_ms)
            senders.append(Punctual(config, messages, share, identity, stop, on_safe).run())
    await asyncio.gather(*senders)
