"""The temperature of something that is heated or cooled, as a sensor with noise and spikes reads it."""

import math
import random
from dataclasses import dataclass
from enum import StrEnum

TIME_CONSTANT_S = 30.0


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
        chance = random.Random(seed)  # noqa: S311 - readings, not secrets
        off = chance.uniform(-self.noise, self.noise)
        if chance.random() < self.spike_share:
            off += chance.choice((-1, 1)) * self.spike_size
        return self.at(elapsed_s) + off
