"""The temperature of something that is heated or cooled, as a sensor with noise and spikes reads it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from struct import Struct

TIME_CONSTANT_S = 30.0
_THREE = Struct("<3I")


class Unit(StrEnum):
    """Degrees Celsius or Fahrenheit, or kelvin."""

    C = "C"
    F = "F"
    K = "K"


@dataclass(frozen=True)
class Curve:
    """From one temperature to another: after 30 s, 63 % of the way; after 150 s, all but 1 %."""

    start: float
    target: float
    noise: float = 0.0
    spike_share: float = 0.0
    spike_size: float = 0.0

    def at(self, elapsed_s: float) -> float:
        """The temperature itself."""
        return self.target + (self.start - self.target) * math.exp(-elapsed_s / TIME_CONSTANT_S)

    def reading(self, elapsed_s: float, seed: str) -> float:
        """What the sensor makes of it: the same for the same seed, off by noise and spikes alone."""
        noise, spike, upwards = _chances(seed)
        off = (2 * noise - 1) * self.noise
        if spike < self.spike_share:
            off += self.spike_size if upwards < 0.5 else -self.spike_size
        return self.at(elapsed_s) + off


def _chances(seed: str) -> Iterator[float]:
    """Three numbers from 0 up to 1; to seed a generator of Python for them would take half the time."""
    digest = blake2b(seed.encode(), digest_size=_THREE.size).digest()
    return (number / 2**32 for number in _THREE.unpack(digest))
