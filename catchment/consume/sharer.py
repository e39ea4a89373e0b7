"""A member of a share group: every record goes to any member, and is acknowledged by itself.

Kafka locks a record for the member that it goes to. What is not acknowledged when the lock ends goes to
another, up to ten times; then Kafka sets the record aside. So a batch whose handler fails is kept and tried
again, and nothing is released while that goes on.
"""

import logging
import time
from typing import Any

from confluent_kafka import AcknowledgeType, KafkaException, Message, ShareConsumer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from catchment.config.consume import ConsumeSettings
from catchment.consume.source import POLL_S, Batch, is_record
from catchment.kafka.clients import REQUEST_TIMEOUT_S
from catchment.kafka.failures import outcome

log = logging.getLogger(__name__)

SHORTEST_LOCK_S, LONGEST_LOCK_S = 15.0, 60.0
MOST_DELIVERIES = 10
# A batch that is being tried again may take any time.
MAX_POLL_INTERVAL_MS = 86_400_000


def prepare_share_group(sign_in: dict[str, Any], group: str, settings: ConsumeSettings) -> None:
    """Sets what Kafka keeps for the group as a whole: where it starts, and how long records are locked."""
    lock_s = min(max(settings.ack_timeout_s, SHORTEST_LOCK_S), LONGEST_LOCK_S)
    wanted = {
        "share.auto.offset.reset": settings.start.value,
        "share.record.lock.duration.ms": str(int(lock_s * 1000)),
        "share.delivery.count.limit": str(MOST_DELIVERIES),
    }
    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in wanted.items()
    ]
    change = ConfigResource(ResourceType.GROUP, group, incremental_configs=entries)
    client = AdminClient(sign_in)
    outcome(f"Setting up the group {group}", client.incremental_alter_configs([change])[change])


class Sharer:
    """Takes records of one topic as a member of a share group, and accepts those that are done."""

    def __init__(self, sign_in: dict[str, Any], group: str, topic: str, settings: ConsumeSettings) -> None:
        self._settings = settings
        self._open: dict[tuple[str, int, int], Message] = {}
        self._done_records = 0
        self._acknowledged_s = time.monotonic()
        self._consumer = ShareConsumer(
            {
                **sign_in,
                "group.id": group,
                "share.acknowledgement.mode": "explicit",
                "max.poll.records": settings.prefetch_records,
                "max.poll.interval.ms": MAX_POLL_INTERVAL_MS,
            }
        )
        self._consumer.subscribe([topic])

    def take(self) -> Batch:
        records = [message for message in self._consumer.poll(POLL_S) if is_record(message)]
        self._open = {_place(message): message for message in records}
        if not records:
            self._acknowledge_if_due()
        return records

    def hold(self, batch: Batch) -> Batch:
        return batch

    def done(self, batch: Batch) -> None:
        for message in batch:
            self._consumer.acknowledge(message)
            del self._open[_place(message)]
        self._done_records += len(batch)
        self._acknowledge_if_due()

    def acknowledge(self) -> None:
        self._acknowledged_s = time.monotonic()
        self._done_records = 0
        refused = [error for error in self._consumer.commit_sync(REQUEST_TIMEOUT_S).values() if error]
        if refused:
            log.warning("some records were acknowledged too late and go to another worker: %s", refused[0])

    def close(self) -> None:
        try:
            for message in self._open.values():
                self._consumer.acknowledge(message, AcknowledgeType.RELEASE)
            self.acknowledge()
        except KafkaException as error:
            log.warning("what was open goes to another worker when its lock ends: %s", error)
        self._consumer.close()

    def _acknowledge_if_due(self) -> None:
        waited_ms = (time.monotonic() - self._acknowledged_s) * 1000
        enough = self._done_records >= self._settings.ack_group_records
        if enough or (self._done_records and waited_ms >= self._settings.ack_group_ms):
            self.acknowledge()


def _place(message: Message) -> tuple[str, int, int]:
    return message.topic() or "", message.partition() or 0, message.offset() or 0
