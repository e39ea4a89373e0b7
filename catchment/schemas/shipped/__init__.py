"""The schemas that come with Catchment, each under the subject of its name."""

import logging
import threading
from pathlib import Path

from catchment.errors import CatchmentError, SchemaRefused
from catchment.kafka.table import Tables
from catchment.schemas.registry import SchemaRegistry

log = logging.getLogger(__name__)

RETRY_S = 1.0
STOP_S = 2.0
TEMPERATURE = "TemperatureData"
THRESHOLD_EVENT = "TemperatureThresholdExceeded"
TWIN_NOTICE = "TwinNotice"


def shipped() -> dict[str, str]:
    """The text of every shipped schema, by its subject."""
    files = sorted(Path(__file__).parent.glob("*.avsc"))
    return {file.stem: file.read_text(encoding="utf-8") for file in files}


def register_shipped(registry: SchemaRegistry) -> None:
    """Registers those that a node never had; what somebody deleted or changed stays as it is."""
    for subject, text in shipped().items():
        try:
            registry.find(subject, text, deleted=True)
        except SchemaRefused:
            _register(registry, subject, text)


def _register(registry: SchemaRegistry, subject: str, text: str) -> None:
    try:
        registry.register(subject, text)
    except SchemaRefused as error:
        log.warning("the shipped schema %s is not registered: %s", subject, error)


class ShippedSchemas:
    """Registers them as soon as the tables are current, and tries again while Kafka is away."""

    def __init__(self, registry: SchemaRegistry, tables: Tables) -> None:
        self._registry = registry
        self._tables = tables
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="shipped schemas", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(STOP_S)

    def _run(self) -> None:
        while not self._stopping.is_set() and not self._registered():
            self._stopping.wait(RETRY_S)

    def _registered(self) -> bool:
        if not self._tables.caught_up:
            return False
        try:
            register_shipped(self._registry)
        except CatchmentError as error:
            log.warning("the shipped schemas are not registered yet: %s", error)
            return False
        return True
