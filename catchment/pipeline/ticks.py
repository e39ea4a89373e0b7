"""The time of day on a topic, once a second, for windows that have to close while nothing comes."""

import threading
import time

from catchment.config import Config
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.records import Kind

INTERVAL_S = 1.0


class Ticker:
    """Ticks while it is wanted. What cannot be written now is of no use later, and is let go."""

    def __init__(self, config: Config) -> None:
        self._wanted = threading.Event()
        self._stopping = threading.Event()
        self._producer = producer(config, Party.PIPELINE, message_timeout_ms=5000)
        self._thread = threading.Thread(target=self._run, name="ticks", daemon=True)
        self._thread.start()

    def want(self, wanted: bool) -> None:
        if wanted:
            self._wanted.set()
        else:
            self._wanted.clear()

    def close(self) -> None:
        self._stopping.set()
        self._wanted.set()
        self._thread.join(2 * INTERVAL_S)

    def _run(self) -> None:
        while self._wanted.wait() and not self._stopping.is_set():
            now_ms = time.time_ns() // 1_000_000
            self._producer.produce(Kind.TICKS.topic, str(now_ms).encode())
            self._producer.poll(0)
            # On the second, so that windows of whole seconds close as soon as they can.
            self._stopping.wait(INTERVAL_S - now_ms % 1000 / 1000)
