"""The latest of all that is said of every source, kept in memory by following the topics."""

import threading
from collections.abc import Iterable
from typing import Generic

from confluent_kafka import Message

from catchment.config import Config
from catchment.kafka.follower import TopicFollower
from catchment.kafka.parties import Party
from catchment.ledger.model import Fields, HopRow, LedgerRow, Mark, decode
from catchment.records import Kind


class Newest(Generic[Fields]):
    """Follows one topic from its beginning and keeps the newest of each key."""

    def __init__(self, config: Config, party: Party, kind: Kind, model: type[Fields]) -> None:
        self._model = model
        self._kept: dict[bytes, Fields] = {}
        self._lock = threading.Lock()
        self.follower = TopicFollower(config, party, [kind.topic], self._keep_newest)

    def all(self) -> list[Fields]:
        with self._lock:
            kept = list(self._kept.values())
        return sorted(kept, key=lambda each: (each.site, each.gateway, each.stream, each.epoch))

    def _keep_newest(self, messages: Iterable[Message]) -> None:
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
        self._marks = Newest(config, party, Kind.MARKS, Mark)
        self._rows = Newest(config, party, Kind.LEDGER, LedgerRow)
        self._hops = Newest(config, party, Kind.HOPS, HopRow)
        self._followers = [self._marks.follower, self._rows.follower, self._hops.follower]

    def start(self) -> None:
        for follower in self._followers:
            follower.start()

    def stop(self) -> None:
        for follower in self._followers:
            follower.stop()

    @property
    def caught_up(self) -> bool:
        """Whether all that was on the topics at the start has been read."""
        return all(follower.caught_up for follower in self._followers)

    def marks(self) -> list[Mark]:
        return self._marks.all()

    def rows(self) -> list[LedgerRow]:
        return self._rows.all()

    def hops(self) -> list[HopRow]:
        return self._hops.all()
