"""One worker: takes a batch, hands it on, and only then acknowledges it."""

import logging
import threading

from confluent_kafka import KafkaException

from catchment.consume.source import Batch, GroupLost, Handler, NotAllHandled, Source
from catchment.errors import CatchmentError
from catchment.kafka.failures import explain

log = logging.getLogger(__name__)

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0


class Worker:
    """Runs in a thread of its own until it is told to stop, or until going on makes no sense.

    A handler that fails gets the same batch again, for as long as it takes: nothing is skipped, and nothing
    behind it goes ahead. An error of ours that is not transient ends the worker instead.
    """

    def __init__(self, source: Source, handle: Handler, stopping: threading.Event) -> None:
        self.lost_the_group = False
        self.failure: Exception | None = None
        self._source = source
        self._handle = handle
        self._stopping = stopping
        self._thread = threading.Thread(target=self._run, name="consume", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def join(self, timeout_s: float) -> None:
        self._thread.join(timeout_s)

    def _run(self) -> None:
        try:
            self._work()
        except GroupLost:
            self.lost_the_group = True
        except KafkaException as error:
            self.failure = explain("Consuming", error)
        except Exception as error:
            self.failure = error
        try:
            self._source.close()
        except KafkaException as error:
            self.failure = self.failure or explain("Leaving the group", error)

    def _work(self) -> None:
        while not self._stopping.is_set():
            batch = self._source.take()
            if batch:
                self._hand_on(batch)

    def _hand_on(self, batch: Batch) -> None:
        pause_s = FIRST_PAUSE_S
        while batch:
            left = self._try(batch)
            if len(left) < len(batch):
                pause_s = FIRST_PAUSE_S
            if not left or self._stopping.wait(pause_s):
                return
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            batch = self._source.hold(left)

    def _try(self, batch: Batch) -> Batch:
        """Hands a batch on, and gives what is left of it."""
        handled = len(batch)
        try:
            self._handle(batch)
        except CatchmentError as error:
            if not error.transient:
                raise
            handled = self._note_failure(error, 0)
        except NotAllHandled as error:
            handled = self._note_failure(error, error.handled)
        except Exception as error:
            handled = self._note_failure(error, 0)
        self._source.done(batch[:handled])
        return batch[handled:]

    def _note_failure(self, error: Exception, handled: int) -> int:
        log.warning("could not hand on, and tries again: %s: %s", type(error).__name__, error)
        return handled
