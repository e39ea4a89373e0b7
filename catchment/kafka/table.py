"""Compacted topics as tables: the latest entry of each key in memory, and a way to write one."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from confluent_kafka import KafkaError, Message, Producer
from pydantic import BaseModel, ValidationError

from catchment.config import Config
from catchment.errors import BrokerUnavailable
from catchment.kafka.clients import producer
from catchment.kafka.failures import explain
from catchment.kafka.follower import TopicFollower, by_topic, log
from catchment.kafka.parties import Party
from catchment.records import Kind

# After so long a write is given up, and whoever asked for it is told.
WRITE_TIMEOUT_S = 10.0
# What is written may stand behind a transaction of a relay that died, for as long as that may take.
SEEN_TIMEOUT_S = 30.0

Entry = TypeVar("Entry", bound=BaseModel)


class KeyedTable(Generic[Entry]):
    """The latest entry of each key of one topic. Made by `Tables.add`."""

    def __init__(self, tables: "Tables", kind: Kind, decode: Callable[[bytes], Entry]) -> None:
        self._tables = tables
        self._kind = kind
        self._decode = decode
        self._entries: dict[str, Entry] = {}
        self._reached: dict[int, int] = defaultdict(int)
        self._changed = threading.Condition()

    def get(self, key: str) -> Entry | None:
        with self._changed:
            return self._entries.get(key)

    def all(self) -> dict[str, Entry]:
        """Every entry, sorted by its key."""
        with self._changed:
            return dict(sorted(self._entries.items()))

    def update(self, key: str, change: Callable[[Entry | None], Entry | None]) -> Entry | None:
        """Writes what `change` makes of the present entry (None deletes it); returns when that is seen here.

        One update at a time, on a table that is current, so that `change` can check versions and
        refuse by raising. What it gives back unchanged is not written.
        """
        with self._tables.lock:
            self._tables.require_current()
            present = self.get(key)
            wanted = change(present)
            if wanted != present:
                self._write(key, wanted.model_dump_json().encode() if wanted else None)
            return wanted

    def take(self, messages: Iterable[Message]) -> None:
        """Takes over what was read from the topic."""
        with self._changed:
            for message in messages:
                self._take(message)
            self._changed.notify_all()

    def _take(self, message: Message) -> None:
        key, value = (message.key() or b"").decode(errors="replace"), message.value()
        try:
            if value is None:
                self._entries.pop(key, None)
            else:
                self._entries[key] = self._decode(value)
        except ValidationError as error:
            log.warning("the entry %s of %s is passed over: %s", key, self._kind.topic, error)
        self._reached[message.partition() or 0] = (message.offset() or 0) + 1

    def _write(self, key: str, value: bytes | None) -> None:
        written = self._tables.write(self._kind.topic, key, value)
        partition, offset = written.partition() or 0, written.offset() or 0
        with self._changed:
            if not self._changed.wait_for(lambda: self._reached[partition] > offset, SEEN_TIMEOUT_S):
                raise BrokerUnavailable(
                    f"{key} was written to {self._kind.topic} and could not be read back",
                    "Look at `catchment status`, and ask again.",
                )


class Tables:
    """Several tables that share one reader and one writer.

    Whoever holds `lock` is alone in writing: what was looked up in one table still holds when another is
    written.
    """

    def __init__(self, config: Config, party: Party) -> None:
        self.lock = threading.RLock()
        self._config = config
        self._party = party
        self._tables: dict[str, KeyedTable[Any]] = {}
        self._follower: TopicFollower | None = None
        self._producer: Producer | None = None

    def add(self, kind: Kind, decode: Callable[[bytes], Entry]) -> KeyedTable[Entry]:
        """A table that will be read from `start` on, one for all; `decode` raises pydantic's errors."""
        table: KeyedTable[Entry] = self._tables.setdefault(kind.topic, KeyedTable(self, kind, decode))
        return table

    def start(self) -> None:
        self._follower = TopicFollower(self._config, self._party, [*self._tables], self._take)
        self._follower.start()

    def stop(self) -> None:
        if self._follower:
            self._follower.stop()

    @property
    def caught_up(self) -> bool:
        """Whether all that was on the topics at the start has been read."""
        return self._follower is not None and self._follower.caught_up

    def require_current(self) -> None:
        """Refuses to answer from tables that have not been read whole."""
        if not self.caught_up:
            raise BrokerUnavailable("The tables are still being read", "Ask again in a moment.")

    def write(self, topic: str, key: str, value: bytes | None) -> Message:
        """Writes one record and waits until Kafka has it."""
        outcome: list[tuple[KafkaError | None, Message]] = []
        with self.lock:
            writer = self._writer()
            writer.produce(topic, value, key, on_delivery=lambda *told: outcome.append(told))
            writer.flush()
        error, message = outcome[0]
        if error:
            raise explain(f"Writing to {topic}", error)
        return message

    def _writer(self) -> Producer:
        if self._producer is None:
            timeout_ms = round(WRITE_TIMEOUT_S * 1000)
            self._producer = producer(self._config, self._party, message_timeout_ms=timeout_ms)
        return self._producer

    def _take(self, messages: Iterable[Message]) -> None:
        for topic, those in by_topic(messages).items():
            self._tables[topic].take(those)
