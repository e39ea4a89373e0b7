"""What a worker takes its records from, whichever way Kafka spreads them."""

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from confluent_kafka import KafkaError, Message

from catchment.errors import CatchmentError, InvalidRecord
from catchment.kafka.failures import explain
from catchment.records import STAMP_HEADER, Stamp

log = logging.getLogger(__name__)

POLL_S = 0.2

Batch = Sequence[Message]
Handler = Callable[[Batch], None]

_FOR_GOOD = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.INCONSISTENT_GROUP_PROTOCOL,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._FATAL,
}


class Source(Protocol):
    """A member of a group. Whatever is not `done` when it ends goes to another member, or comes again."""

    def take(self) -> Batch:
        """The next records, or none if none come within a moment."""

    def hold(self, batch: Batch) -> Batch:
        """Stays in the group while a batch is still being tried; gives what of it is still ours."""

    def done(self, batch: Batch) -> None:
        """Notes records as handed on, and acknowledges them when enough have gathered."""

    def acknowledge(self) -> None:
        """Tells Kafka of all that is done."""

    def close(self) -> None:
        """Acknowledges what is done and leaves the group."""


class NotAllHandled(Exception):
    """A handler raises this when it handled only the first so many records of a batch."""

    def __init__(self, handled: int, reason: str) -> None:
        super().__init__(reason)
        self.handled = handled


class GroupLost(Exception):
    """Kafka has given the group to somebody else."""


def failure_for_good(error: KafkaError) -> CatchmentError | None:
    """The error of ours for one that no waiting mends."""
    return explain("Consuming", error) if error.code() in _FOR_GOOD or error.fatal() else None


def is_record(message: Message) -> bool:
    """Whether Kafka gave a record, and not an error that goes away; one that does not is raised."""
    error = message.error()
    if error is None:
        return True
    failure = failure_for_good(error)
    if failure:
        raise failure
    log.warning("consuming goes on after: %s", error)
    return False


def stamp_of(message: Message) -> Stamp | None:
    """The stamp of a record, if it has one that can be read."""
    header = dict(message.headers() or []).get(STAMP_HEADER)
    try:
        return Stamp.decode(header) if isinstance(header, bytes) else None
    except InvalidRecord:
        return None
