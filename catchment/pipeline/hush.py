"""Silence while queries are stopped on purpose: what Spark then says of its tasks reads like a failure."""

import time
from collections.abc import Callable

from pyspark.sql import SparkSession

# Tasks of a real-time query end some time after the query has.
LASTS_S = 10.0
LOGGER = "org.apache.spark"


class Hush:
    """Keeps Spark silent for a while. A query that fails meanwhile is told by whoever looks after it."""

    def __init__(self, set_level: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._set_level = set_level
        self._clock = clock
        self._until: float | None = None

    def begin(self) -> None:
        self._until = self._clock() + LASTS_S
        self._set_level("OFF")

    def tend(self) -> None:
        """Lets Spark speak again when it is time; called every second or so."""
        if self._until is not None and self._clock() >= self._until:
            self._until = None
            self._set_level("WARN")


def levels_of(spark: SparkSession) -> Callable[[str], None]:
    """Sets how serious something has to be for Spark to say it."""
    log4j = spark._jvm.org.apache.logging.log4j  # type: ignore[union-attr]

    def set_level(name: str) -> None:
        log4j.core.config.Configurator.setLevel(LOGGER, log4j.Level.getLevel(name))

    return set_level
