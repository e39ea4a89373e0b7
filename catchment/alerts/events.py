"""Reading events: each batch comes when all that was declared until then is known."""

import time

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from catchment.alerts.known import Known
from catchment.config import Config
from catchment.errors import BrokerUnavailable
from catchment.kafka.clients import REQUEST_TIMEOUT_S, client_settings, consumer
from catchment.kafka.failures import outcome
from catchment.kafka.parties import Party
from catchment.records import Kind

BATCH_RECORDS = 1000
CATCH_UP_S = 30.0
# The end of a topic is told when a fetch came back with nothing: short, and still twice a second only.
FETCH_WAIT_MS = 500
# Typed here, because the library leaves it untyped.
LATEST: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]


class EventSource:
    """One reader for the events and for all declarations, which are read from their beginning."""

    def __init__(self, config: Config, known: Known, next_offset: int) -> None:
        self._known = known
        self._reader = consumer(
            config, Party.NOTIFIER, enable_partition_eof=True, fetch_wait_max_ms=FETCH_WAIT_MS
        )
        # Asked on a connection of its own: on the reader's, an answer waits for the fetch that is under way.
        self._admin = AdminClient(client_settings(config, Party.NOTIFIER))
        self._reached: dict[str, int] = {}
        self._read_from(next_offset)

    def close(self) -> None:
        self._reader.close()

    def take(self, wait_s: float) -> list[Message]:
        """The events that came within a time; none of them is ahead of what it is about."""
        events = self._poll(wait_s)
        if events:
            events += self._catch_up()
        return events

    def _read_from(self, next_offset: int) -> None:
        # One partition of events: what is told to people is told in the order in which it happened.
        places = [TopicPartition(topic, 0, 0) for topic in self._known.topics]
        self._reader.assign([*places, TopicPartition(Kind.EVENTS.topic, 0, next_offset)])

    def _catch_up(self) -> list[Message]:
        goals = self._ends()
        events: list[Message] = []
        deadline_s = time.monotonic() + CATCH_UP_S
        while any(self._reached.get(topic, 0) < goal for topic, goal in goals.items()):
            if time.monotonic() > deadline_s:
                raise BrokerUnavailable(
                    "The declarations could not be read to their end", "It is tried again."
                )
            events += self._poll(0.2)
        return events

    def _ends(self) -> dict[str, int]:
        asked = {TopicPartition(topic, 0): LATEST for topic in self._known.topics}
        answers = self._admin.list_offsets(
            asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=REQUEST_TIMEOUT_S
        )
        return {place.topic: outcome("Reading declarations", each).offset for place, each in answers.items()}

    def _poll(self, wait_s: float) -> list[Message]:
        first = self._reader.poll(wait_s)
        if first is None:
            return []
        events = []
        for message in (first, *self._reader.consume(BATCH_RECORDS, 0)):
            error, topic = message.error(), message.topic() or ""
            if error and error.code() != KafkaError._PARTITION_EOF:
                raise KafkaException(error)
            self._reached[topic] = (message.offset() or 0) + (error is None)
            if error is None and topic == Kind.EVENTS.topic:
                events.append(message)
            elif error is None:
                self._known.take(message)
        return events
