"""Letting go of what is safe: batches that Kafka has confirmed stay in the spool until they are read back.

It has a thread of its own, because reading back takes a while and nothing else has to wait for it.
"""

import logging
import threading
import time
from collections import deque
from dataclasses import dataclass
from itertools import takewhile

from confluent_kafka import KafkaException

from catchment.gateway.readback import Place, ReadBack
from catchment.gateway.spool import Spool
from catchment.gateway.spool.format import Placed

log = logging.getLogger(__name__)

RELEASE_S = 1.0
STOP_S = 2.0


@dataclass
class Sent:
    """A batch on its way: confirmed once Kafka has answered, with the place of its last record there."""

    placed: Placed
    confirmed_at: float | None = None
    place: Place | None = None


class Releaser:
    """Takes confirmed batches in their order, and releases each when it is old enough and still there."""

    def __init__(self, spool: Spool, readback: ReadBack, safe_after_s: float) -> None:
        self._spool = spool
        self._readback = readback
        self._safe_after_s = safe_after_s
        self._confirmed: deque[Sent] = deque()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="releaser", daemon=True)
        # Whoever holds it has the reader and the confirmed batches for itself.
        self.lock = threading.Lock()
        self.has_lost = False

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Bounded, because reading back waits for Kafka; what is not released now is at the next start."""
        self._stopping.set()
        self._thread.join(STOP_S)

    def add(self, sent: Sent) -> None:
        self._confirmed.append(sent)

    def forget(self) -> None:
        """Begins anew; for whoever holds the lock."""
        self._confirmed.clear()
        self.has_lost = False

    def _run(self) -> None:
        while not self._stopping.wait(RELEASE_S):
            with self.lock:
                self._release_safe(time.monotonic())

    def _release_safe(self, now: float) -> None:
        """Lets go of the batches at the head of the queue that are confirmed, old enough and still there."""
        confirmed = self._confirmed.copy()
        safe = list(takewhile(lambda sent: now - (sent.confirmed_at or now) >= self._safe_after_s, confirmed))
        if not safe or self.has_lost:
            return
        newest = {sent.place.partition: sent.place for sent in safe if sent.place}
        try:
            kept = self._readback.still_there(list(newest.values()))
        except KafkaException:
            return
        if not kept:
            log.error("Kafka has lost records that it had confirmed: they are sent again")
            self.has_lost = True
            return
        offsets = {place.partition: place.offset + 1 for place in newest.values()}
        try:
            self._spool.release(safe[-1].placed.end, [sent.placed.batch for sent in safe], offsets)
        except OSError as error:
            log.warning("what is safe in Kafka stays in the spool: %s", error.strerror)
            return
        for _ in safe:
            self._confirmed.popleft()
