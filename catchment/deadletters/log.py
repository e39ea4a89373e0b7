"""Reading dead letters from their topic: one by its place, or many from the newest back."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from catchment.config import Config
from catchment.deadletters.model import Letter, Place, letter_of
from catchment.errors import BrokerUnavailable, NotFound
from catchment.kafka.clients import REQUEST_TIMEOUT_S, bounds, consumer
from catchment.kafka.failures import explain
from catchment.kafka.parties import Party
from catchment.records import Kind

TOPIC = Kind.DEADLETTER.topic
WINDOW_LETTERS = 500
# Of a filter that matches little, a page ends after so many letters were looked at.
MOST_LOOKED_AT = 50_000


@dataclass(frozen=True)
class Wanted:
    """Which letters; what is not set matches every one."""

    reason: str | None = None
    topic: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None

    def matches(self, letter: Letter) -> bool:
        return (
            (self.reason is None or self.reason in letter.reason)
            and (self.topic is None or self.topic == letter.topic)
            and (self.since_ms is None or letter.at_ms >= self.since_ms)
            and (self.until_ms is None or letter.at_ms < self.until_ms)
        )


class DeadLetterLog:
    """The topic, read anew for every question: it may hold more than fits into memory."""

    def __init__(self, config: Config, party: Party) -> None:
        self._config = config
        self._party = party

    def get(self, place: Place) -> Message:
        """The letter at a place."""
        with self._reader() as reader:
            first, end = self._bounds(reader).get(place.partition, (0, 0))
            if not first <= place.offset < end:
                raise _missing(place)
            found = list(_read(reader, place.partition, place.offset, place.offset + 1))
        if not found:
            raise _missing(place)
        return found[0]

    def newest(self, wanted: Wanted, limit: int, before: Place | None) -> tuple[list[Message], Place | None]:
        """Letters that are wanted, the newest of each partition first, and where the next page begins."""
        found: list[Message] = []
        looked_at = 0
        with self._reader() as reader:
            for partition, first, end in _windows(self._bounds(reader), before):
                looked_at += end - first
                for message in reversed(list(_read(reader, partition, first, end))):
                    if wanted.matches(letter_of(message)):
                        found.append(message)
                        if len(found) == limit:
                            return found, Place(partition=partition, offset=message.offset() or 0)
                if looked_at >= MOST_LOOKED_AT:
                    return found, Place(partition=partition, offset=first)
        return found, None

    def _bounds(self, reader: Consumer) -> dict[int, tuple[int, int]]:
        partitions = reader.list_topics(TOPIC, timeout=REQUEST_TIMEOUT_S).topics[TOPIC].partitions
        return {each: bounds(reader, TopicPartition(TOPIC, each)) for each in sorted(partitions)}

    @contextmanager
    def _reader(self) -> Iterator[Consumer]:
        reader = consumer(self._config, self._party, enable_partition_eof=True)
        try:
            yield reader
        except KafkaException as error:
            raise explain(f"Reading {TOPIC}", error) from None
        finally:
            reader.close()


def _windows(bounds: dict[int, tuple[int, int]], before: Place | None) -> Iterator[tuple[int, int, int]]:
    """Stretches of the log from the newest back, partition by partition, from a place on."""
    for partition, (first, end) in bounds.items():
        if before and partition < before.partition:
            continue
        upper = min(end, before.offset) if before and partition == before.partition else end
        while upper > first:
            lower = max(first, upper - WINDOW_LETTERS)
            yield partition, lower, upper
            upper = lower


def _read(reader: Consumer, partition: int, first: int, end: int) -> Iterator[Message]:
    """What stands from `first` up to `end`; ends of transactions stand there too, and are no letters."""
    reader.assign([TopicPartition(TOPIC, partition, first)])
    position = first
    while position < end:
        message = reader.poll(REQUEST_TIMEOUT_S)
        if message is None:
            raise BrokerUnavailable(
                f"Nothing came from {TOPIC} for {REQUEST_TIMEOUT_S:g} s", "See that the broker runs."
            )
        error = message.error()
        if error and error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        position = (message.offset() or 0) + 1
        if error:
            break
        if position <= end:
            yield message
    reader.unassign()


def _missing(place: Place) -> NotFound:
    return NotFound(
        f"There is no dead letter {place.id}",
        "It may have expired; `catchment deadletter list` shows those there are.",
    )
