"""The audit log of a node: written to a journal, moved to the topic, and kept in memory for questions."""

import logging
import threading
from collections.abc import Iterable

from confluent_kafka import KafkaError, Message, Producer
from pydantic import ValidationError

from catchment.audit.entry import AuditEntry
from catchment.audit.journal import AuditJournal
from catchment.config import Config
from catchment.errors import BrokerUnavailable, CatchmentError
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.kafka.recent import RecentFollower
from catchment.records import Kind

log = logging.getLogger(__name__)

INTERVAL_S = 0.25
# After a failure it is tried again this much later.
RETRY_S = 2.0
WRITE_TIMEOUT_S = 10.0
# What questions are answered from: the newest so many of the last days; all are on the topic.
KEPT_ENTRIES = 20_000
KEPT_S = 30 * 24 * 3600.0
_STOP_S = 3.0


class AuditBook:
    """The newest entries; one that came twice is there once."""

    def __init__(self, kept: int = KEPT_ENTRIES) -> None:
        self._kept = kept
        self._entries: dict[str, AuditEntry] = {}
        self._lock = threading.Lock()

    def put(self, entry: AuditEntry) -> None:
        with self._lock:
            self._entries.setdefault(entry.id, entry)
            if len(self._entries) > self._kept:
                del self._entries[next(iter(self._entries))]

    def newest(self) -> list[AuditEntry]:
        """Newest first."""
        with self._lock:
            entries = list(self._entries.values())
        return sorted(entries, key=lambda entry: (-entry.at_ms, entry.id))


class AuditLog:
    """Takes entries, and sees that they come to the topic and back."""

    def __init__(self, config: Config) -> None:
        self.journal = AuditJournal(config.paths.audit)
        self.book = AuditBook()
        self._config = config
        self._producer: Producer | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self._follower = RecentFollower(config, Party.API, [Kind.AUDIT.topic], self._take, KEPT_S)

    def start(self) -> None:
        self._follower.start()
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._follower.stop()
        if self._thread.is_alive():
            self._thread.join(_STOP_S)

    def _run(self) -> None:
        while not self._stopping.wait(INTERVAL_S):
            try:
                if self.journal.has_waiting:
                    self._send()
            except (CatchmentError, OSError) as error:
                log.warning("the audit log waits on disk: %s", error)
                self._stopping.wait(RETRY_S)

    def _send(self) -> None:
        if self._producer is None:
            timeout_ms = round(WRITE_TIMEOUT_S * 1000)
            self._producer = producer(self._config, Party.API, message_timeout_ms=timeout_ms)
        failures: list[KafkaError] = []

        def on_delivery(error: KafkaError | None, _: Message) -> None:
            if error:
                failures.append(error)

        with self.journal.batch() as entries:
            for entry in entries:
                self._producer.produce(
                    Kind.AUDIT.topic, entry.model_dump_json().encode(), entry.who, on_delivery=on_delivery
                )
                self._producer.poll(0)
            self._producer.flush()
            if failures:
                raise BrokerUnavailable(f"Kafka did not take it ({failures[0]})", "It is tried again.")

    def _take(self, messages: Iterable[Message]) -> None:
        for message in messages:
            try:
                self.book.put(AuditEntry.model_validate_json(message.value() or b""))
            except ValidationError as error:
                log.warning("an entry of %s is passed over: %s", Kind.AUDIT.topic, error)
