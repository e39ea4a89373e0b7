"""A consumer as a whole: its workers, how they get into the group, and how they stop."""

import logging
import secrets
import threading
from typing import Any

from catchment.config import Config
from catchment.config.consume import Mode
from catchment.consume.admission import Admission
from catchment.consume.identity import group_at_kafka, name_of, sign_in_settings
from catchment.consume.member import Member
from catchment.consume.sharer import Sharer, prepare_share_group
from catchment.consume.source import Handler, Source
from catchment.consume.worker import Worker
from catchment.kafka.sessions import membership
from catchment.records import Kind

log = logging.getLogger(__name__)

WATCH_S = 0.1


class Subscription:
    """Hands every record of a topic to `handle`, in batches, and acknowledges them when it returned.

    Each worker calls `handle` from a thread of its own. Settings are those of `config.consume`; `consumer` is
    the name of a registered consumer to sign in as, otherwise it is the operator.
    """

    def __init__(
        self, config: Config, handle: Handler, consumer: str | None = None, kind: Kind = Kind.RECORDS
    ) -> None:
        self._settings = config.consume
        self._handle = handle
        self._topic = kind.topic
        self._group = group_at_kafka(config, consumer)
        self._stopping = threading.Event()
        self._membership = membership(config)
        self._sign_in: dict[str, Any] = {
            **sign_in_settings(config, consumer),
            # Workers of one consumer have one name, and no other consumer has it.
            "client.id": f"{config.consume.name or name_of(consumer)}-{secrets.token_hex(4)}",
        }

    def run(self) -> None:
        """Consumes until `stop` is called from another thread or a signal handler."""
        while not self._stopping.is_set():
            first = self._first_source()
            if first is not None:
                self._work(first)

    def stop(self) -> None:
        """Takes no more, finishes what is being handed on, acknowledges it, and leaves the group."""
        self._stopping.set()

    def _first_source(self) -> Source | None:
        if self._settings.mode.one_at_a_time:
            return Admission(self._sign_in, self._group, self._stopping).wait(
                self._settings.mode, self._member
            )
        if self._settings.mode is Mode.SHARED:
            prepare_share_group(self._sign_in, self._group, self._settings)
        return self._source()

    def _source(self) -> Source:
        if self._settings.mode is Mode.SHARED:
            return Sharer(self._sign_in, self._group, self._topic, self._settings)
        return self._member()

    def _member(self) -> Member:
        return Member({**self._sign_in, **self._membership}, self._group, self._topic, self._settings)

    def _work(self, first: Source) -> None:
        """Runs the workers until one ends: it was stopped, it failed, or it lost the group."""
        ending = threading.Event()
        sources = [first, *(self._source() for _ in range(self._settings.workers - 1))]
        workers = [Worker(source, self._handle, ending) for source in sources]
        for worker in workers:
            worker.start()
        while all(worker.running for worker in workers) and not self._stopping.wait(WATCH_S):
            pass
        ending.set()
        self._join(workers)
        for worker in workers:
            if worker.failure:
                raise worker.failure

    def _join(self, workers: list[Worker]) -> None:
        for worker in workers:
            worker.join(self._settings.ack_timeout_s)
            if worker.running:
                log.error("a worker did not finish in time; what it was handling comes again")
