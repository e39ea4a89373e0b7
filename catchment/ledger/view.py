"""The latest of all that is said of every source, kept in memory by following the topics."""

import threading
from collections.abc import Iterable
from typing import Any, Generic

from confluent_kafka import Message

from catchment.config import Config
from catchment.kafka.follower import TopicFollower, by_topic
from catchment.kafka.parties import Party
from catchment.ledger.model import Fields, HopRow, LedgerRow, Mark, decode
from catchment.records import Kind


class Newest(Generic[Fields]):
    """Keeps the newest of each key of one topic."""

    def __init__(self, model: type[Fields]) -> None:
        self._model = model
        self._kept: dict[bytes, Fields] = {}
        self._lock = threading.Lock()

    def all(self) -> list[Fields]:
        with self._lock:
            kept = list(self._kept.values())
        return sorted(kept, key=lambda each: (each.site, each.gateway, each.stream, each.epoch))

    def take(self, messages: Iterable[Message]) -> None:
        # Of a busy source a batch has thousands of rows: only the last of each is worth reading.
        last = {message.key(): message.value() for message in messages}
        newest = {key: decode(self._model, value) for key, value in last.items() if key}
        with self._lock:
            for key, each in newest.items():
                held = self._kept.get(key)
                if held is None or each.rank >= held.rank:
                    self._kept[key] = each


class LedgerView:
    """What gateways accepted, what this node's ledger has, and what other nodes have counted."""

    def __init__(self, config: Config, party: Party) -> None:
        self._marks = Newest(Mark)
        self._rows = Newest(LedgerRow)
        self._hops = Newest(HopRow)
        self._kept: dict[str, Newest[Any]] = {
            Kind.MARKS.topic: self._marks,
            Kind.LEDGER.topic: self._rows,
            Kind.HOPS.topic: self._hops,
        }
        self._follower = TopicFollower(config, party, list(self._kept), self._take)

    def start(self) -> None:
        self._follower.start()

    def stop(self) -> None:
        self._follower.stop()

    @property
    def caught_up(self) -> bool:
        """Whether all that was on the topics at the start has been read."""
        return self._follower.caught_up

    def _take(self, messages: Iterable[Message]) -> None:
        for topic, those in by_topic(messages).items():
            self._kept[topic].take(those)

    def marks(self) -> list[Mark]:
        return self._marks.all()

    def rows(self) -> list[LedgerRow]:
        return self._rows.all()

    def hops(self) -> list[HopRow]:
        return self._hops.all()
