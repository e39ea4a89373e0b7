"""The latest row of every source, kept in memory by following the ledger's topic."""

import threading
from collections.abc import Iterable

from confluent_kafka import Message

from catchment.config import Config
from catchment.kafka.follower import TopicFollower
from catchment.kafka.parties import Party
from catchment.ledger.model import LedgerRow, decode
from catchment.records import Kind


class LedgerView:
    """Follows the ledger from its beginning in a thread of its own."""

    def __init__(self, config: Config, party: Party) -> None:
        self._rows: dict[bytes, LedgerRow] = {}
        self._lock = threading.Lock()
        self._follower = TopicFollower(config, party, Kind.LEDGER.topic, self._keep_newest)

    def start(self) -> None:
        self._follower.start()

    def stop(self) -> None:
        self._follower.stop()

    @property
    def caught_up(self) -> bool:
        """Whether all that was on the topic at the start has been read."""
        return self._follower.caught_up

    def rows(self) -> list[LedgerRow]:
        with self._lock:
            return sorted(self._rows.values(), key=lambda row: (row.site, row.gateway, row.stream, row.epoch))

    def _keep_newest(self, messages: Iterable[Message]) -> None:
        # Of a busy source a batch has thousands of rows: only the last of each is worth reading.
        last = {message.key(): message.value() for message in messages}
        newest = {key: decode(LedgerRow, value) for key, value in last.items() if key}
        with self._lock:
            for key, row in newest.items():
                held = self._rows.get(key)
                if held is None or row.version >= held.version:
                    self._rows[key] = row
