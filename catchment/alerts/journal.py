"""The notifier's one writer: all of a step is written, or nothing of it.

`alerts` and `deliveries` are for others to read. Beside them `notified` keeps what the notifier goes on from:
in the same transaction, so that what was told and what is remembered of it never differ.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from confluent_kafka import KafkaError, KafkaException, Producer
from pydantic import BaseModel

from catchment.alerts.model import Alert, ChannelState, Delivery, Position, Standing
from catchment.config import Config
from catchment.errors import PartFailed
from catchment.kafka.access import NOTIFIER_TRANSACTIONS
from catchment.kafka.clients import producer
from catchment.kafka.committed import read_committed
from catchment.kafka.failures import explain
from catchment.kafka.parties import Party
from catchment.records import Kind

TRANSACTION_TIMEOUT_S = 15.0
_FENCED = {
    KafkaError._FENCED,
    KafkaError.PRODUCER_FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
}

Headers = list[tuple[str, str | bytes | None]]


class Row(NamedTuple):
    """A record to be written."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers | None = None


@dataclass
class Remembered:
    """All that a notifier goes on from."""

    next_offset: int = 0
    standings: dict[str, Standing] = field(default_factory=dict)
    channels: dict[str, ChannelState] = field(default_factory=dict)


class Journal:
    """Writes for one node. Whoever wrote for it before cannot any more.

    Safe to use from several threads. A failure is raised, and the next write begins with a new producer;
    whether what failed was written after all is found out by reading it back.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._node = config.site
        self._lock = threading.Lock()
        self._producer: Producer | None = None
        self._fenced = False

    def recover(self) -> Remembered:
        """Reads back what was remembered, after all that any notifier had begun is settled."""
        with self._lock:
            self._producer = None
            self._open()
        remembered = Remembered()
        for message in read_committed(self._config, Party.NOTIFIER, Kind.NOTIFIED, TRANSACTION_TIMEOUT_S):
            node, kind, name = (message.key() or b"").decode().split("/", 2)
            value = message.value() or b""
            if node != self._node:
                continue
            if kind == "position":
                remembered.next_offset = Position.model_validate_json(value).next_offset
            elif kind == "standing":
                standing = Standing.model_validate_json(value)
                remembered.standings[standing.key] = standing
            else:
                remembered.channels[name] = ChannelState.model_validate_json(value)
        return remembered

    def write(self, rows: Iterable[Row]) -> None:
        """All of the rows, or none."""
        with self._lock:
            writer = self._producer or self._open()
            try:
                writer.begin_transaction()
                for row in rows:
                    writer.produce(row.topic, row.value, row.key, headers=row.headers)
                writer.commit_transaction(TRANSACTION_TIMEOUT_S)
            except (KafkaException, BufferError) as error:
                self._producer = None
                raise self._explained(error) from None

    def position(self, next_offset: int) -> Row:
        return self._own("position/events", Position(next_offset=next_offset))

    def standing(self, standing: Standing) -> Row:
        return self._own(f"standing/{standing.key}", standing)

    def channel(self, state: ChannelState) -> Row:
        return self._own(f"channel/{state.channel}", state)

    def _own(self, name: str, value: BaseModel) -> Row:
        return Row(Kind.NOTIFIED.topic, f"{self._node}/{name}".encode(), value.model_dump_json().encode())

    def _open(self) -> Producer:
        if self._fenced:
            raise _taken_over()
        timeout_ms = round(TRANSACTION_TIMEOUT_S * 1000)
        try:
            opened = producer(
                self._config,
                Party.NOTIFIER,
                transactional_id=f"{NOTIFIER_TRANSACTIONS}{self._node}",
                transaction_timeout_ms=timeout_ms,
                message_timeout_ms=timeout_ms,
                linger_ms=0,
            )
            opened.init_transactions(TRANSACTION_TIMEOUT_S)
        except KafkaException as error:
            raise self._explained(error) from None
        self._producer = opened
        return opened

    def _explained(self, error: KafkaException | BufferError) -> Exception:
        if isinstance(error, BufferError):
            return explain("Writing alerts", KafkaError(KafkaError._QUEUE_FULL))
        if error.args[0].code() in _FENCED:
            self._fenced = True
            return _taken_over()
        return explain("Writing alerts", error)


def alert_row(alert: Alert) -> Row:
    return Row(Kind.ALERTS.topic, alert.key.encode(), alert.model_dump_json().encode())


def delivery_row(delivery: Delivery) -> Row:
    return Row(Kind.DELIVERIES.topic, delivery.key.encode(), delivery.model_dump_json().encode())


def _taken_over() -> PartFailed:
    return PartFailed(
        "Another notifier of this node has taken over", "Run one only: `catchment up` runs it already."
    )
