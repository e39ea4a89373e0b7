"""A member of a consumer group: partitions are spread over the members, and each stays in order.

Records in a take that belong to partitions which went to somebody else meanwhile are dropped: they come
again over there, or here if the partitions came back at once. Dropped is also what this member has handed
on before. What fails, and what happens then:
- The handler is too slow: librdkafka leaves the group after `ack_timeout_s`, the partitions go to others,
  and what this member acknowledges afterwards is refused.
- Kafka is away: librdkafka waits for it; acknowledgements are kept and repeated.
- The process dies: after the session's time-out others go on behind the last acknowledgement.
"""

import logging
import time
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from catchment.config.consume import ConsumeSettings, Start
from catchment.consume.memory import HandedOn
from catchment.consume.source import POLL_S, Batch, GroupLost, is_record
from catchment.kafka.clients import REQUEST_TIMEOUT_S, SMALL_ANSWERS, bounds

log = logging.getLogger(__name__)

Place = tuple[str, int]


class Member:
    """Takes records of one topic as a member of a group, and commits behind what is done."""

    def __init__(self, sign_in: dict[str, Any], group: str, topic: str, settings: ConsumeSettings) -> None:
        self._settings = settings
        self._done: dict[Place, int] = {}
        self._done_records = 0
        self._handed_on = HandedOn()
        self._acknowledged_s = time.monotonic()
        self._early: list[Message] = []
        self._gone: set[Place] = set()
        self._lost = False
        self._holding = False
        self._consumer = Consumer({**sign_in, **_group_settings(settings), "group.id": group})
        self._consumer.subscribe(
            [topic], on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
        )

    @property
    def member_id(self) -> str:
        """The name that Kafka gave this member; empty until it has joined."""
        return self._consumer.memberid() or ""

    def take(self) -> Batch:
        self._resume()
        self._gone.clear()
        polled = [*self._early, *self._poll(0 if self._early else POLL_S)]
        if polled:
            # `consume` with a time-out would wait for a full batch.
            polled += self._consumer.consume(max(1, self._settings.prefetch_records - len(polled)), 0)
        self._early = []
        self._check_membership()
        polled = [each for each in polled if each.error() is None or is_record(each)]
        records = self._ours(polled)
        if len(records) < len(polled):
            self._go_back_for([each for each in polled if _place(each) in self._gone])
        new = self._handed_on.new(records)
        if not new:
            self._note_done(records)
            self._acknowledge_if_due()
        return new

    def join(self) -> None:
        """Works towards membership; records that come already are kept for the first take."""
        self._early += self._poll(POLL_S)

    def hold(self, batch: Batch) -> Batch:
        self._holding = True
        self._gone.clear()
        self._consumer.pause(self._consumer.assignment())
        self._early += self._poll(0)
        self._check_membership()
        return self._ours(batch)

    def done(self, batch: Batch) -> None:
        self._handed_on.note(batch)
        self._note_done(batch)
        self._acknowledge_if_due()

    def acknowledge(self) -> None:
        self._acknowledged_s = time.monotonic()
        if not self._done:
            return
        offsets = [
            TopicPartition(topic, partition, offset) for (topic, partition), offset in self._done.items()
        ]
        try:
            self._consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:
            # Tried again with the next one; if the partitions went away, librdkafka says so in a poll.
            log.warning("%d records are handed on and not acknowledged yet: %s", self._done_records, error)
            return
        self._done.clear()
        self._done_records = 0

    def close(self) -> None:
        self.acknowledge()
        self._consumer.close()

    def _note_done(self, batch: Batch) -> None:
        last = {message.partition(): message for message in batch}
        for message in last.values():
            self._done[_place(message)] = (message.offset() or 0) + 1
        self._done_records += len(batch)

    def _acknowledge_if_due(self) -> None:
        waited_ms = (time.monotonic() - self._acknowledged_s) * 1000
        if self._done_records >= self._settings.ack_group_records or waited_ms >= self._settings.ack_group_ms:
            self.acknowledge()

    def _poll(self, timeout_s: float) -> list[Message]:
        message = self._consumer.poll(timeout_s)
        return [] if message is None else [message]

    def _resume(self) -> None:
        if self._holding:
            self._consumer.resume(self._consumer.assignment())
            self._holding = False

    def _check_membership(self) -> None:
        if not self._lost:
            return
        self._lost = False
        if self._settings.mode.one_at_a_time:
            raise GroupLost

    def _ours(self, batch: Batch) -> Batch:
        return [message for message in batch if _place(message) not in self._gone] if self._gone else batch

    def _go_back_for(self, dropped: Batch) -> None:
        """What was dropped from partitions that went and came back at once is read again."""
        ours = {(each.topic, each.partition) for each in self._consumer.assignment()}
        for topic, partition in ours & {_place(each) for each in dropped}:
            lowest = min(each.offset() or 0 for each in dropped if _place(each) == (topic, partition))
            try:
                self._consumer.seek(TopicPartition(topic, partition, lowest))
            except KafkaException:
                # Not read since it came back: it begins at the last acknowledgement, before all of that.
                continue

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if self._settings.start is Start.LATEST:
            _settle_at_the_end(consumer, partitions)
        for each in partitions:
            self._handed_on.doubt(each.partition)
        consumer.incremental_assign(partitions)

    def _on_revoke(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self.acknowledge()
        self._forget(partitions)

    def _on_lost(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        log.warning("a worker lost its partitions: it was out of touch with Kafka, or busy, for too long")
        self._lost = True
        self._forget(partitions)

    def _forget(self, partitions: list[TopicPartition]) -> None:
        places = {(each.topic, each.partition) for each in partitions}
        self._gone |= places
        self._done = {place: offset for place, offset in self._done.items() if place not in places}
        self._early = [message for message in self._early if _place(message) not in places]


def _settle_at_the_end(consumer: Consumer, partitions: list[TopicPartition]) -> None:
    """Commits the present end where nothing is committed yet: from then on not even a crash skips any."""
    committed = consumer.committed(partitions, timeout=REQUEST_TIMEOUT_S)
    new = [each for each in committed if each.offset < 0]
    for each in new:
        _, each.offset = bounds(consumer, each)
    if new:
        consumer.commit(offsets=new, asynchronous=False)


def _place(message: Message) -> Place:
    return message.topic() or "", message.partition() or 0


def _group_settings(settings: ConsumeSettings) -> dict[str, Any]:
    return {
        "max.poll.interval.ms": int(settings.ack_timeout_s * 1000),
        "enable.auto.commit": False,
        # Also where the place of a group was deleted with old records: nothing that is there is skipped.
        "auto.offset.reset": "earliest",
        "queued.min.messages": settings.prefetch_records,
        # By default a full queue pauses fetching for a second, which halves the pace of catching up.
        "fetch.queue.backoff.ms": 1,
        **SMALL_ANSWERS,
    }
