"""Handing stamped batches on to Kafka: in order, until it has them, within a bound.

What fails, and what happens then:
- Kafka is away: librdkafka keeps the batches and retries for ever; the queue fills.
- The queue is full: `has_room` says no, and the listener stops reading from its providers.
- The process dies: what Kafka had not confirmed is gone with it, and no mark claims it was accepted.
"""

import logging
import threading
import time
from collections.abc import Callable

import orjson
from confluent_kafka import KafkaError, Message
from prometheus_client import Counter, Gauge

from catchment.config import Config
from catchment.gateway.intake import Batch
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.records import REASON_HEADER, STAMP_HEADER, Kind, Source

log = logging.getLogger(__name__)

DELIVERED = Counter("catchment_gateway_delivered_records", "Records that Kafka has confirmed.")
DEAD_LETTERS = Counter(
    "catchment_gateway_dead_letters", "Messages that went to the dead letters.", ["reason"]
)
QUEUED = Gauge("catchment_gateway_queued_records", "Records that wait for Kafka's confirmation.")

POLL_S = 0.5

Headers = list[tuple[str, str | bytes | None]]


class Forwarder:
    """Produces batches and knows, per source, up to which number Kafka has confirmed them."""

    def __init__(self, config: Config, on_room: Callable[[], None]) -> None:
        settings = config.gateway
        self._max_records = settings.queue_records
        self._max_bytes = settings.queue_mib * 1024 * 1024
        self._on_room = on_room
        self._lock = threading.Lock()
        self._queued_records = 0
        self._queued_bytes = 0
        self._moved_at = time.monotonic()
        self._confirmed: dict[Source, int] = {}
        self._marked: dict[Source, int] = {}
        self._producer = producer(
            config,
            Party.GATEWAY,
            **{
                "linger.ms": settings.linger_ms,
                "compression.type": settings.compression.value,
                # Our own bound is lower: librdkafka must never be the one to say that it is full.
                "queue.buffering.max.messages": 10_000_000,
                "queue.buffering.max.kbytes": 2_097_151,
            },
        )
        self._stopping = threading.Event()
        self._poller = threading.Thread(target=self._poll, name="forwarder", daemon=True)
        self._poller.start()

    @property
    def has_room(self) -> bool:
        return self._queued_records < self._max_records and self._queued_bytes < self._max_bytes

    @property
    def queued_records(self) -> int:
        return self._queued_records

    @property
    def confirmed_records(self) -> int:
        return sum(self._confirmed.values())

    @property
    def stalled_for_s(self) -> float:
        """For how long records have been waiting without any confirmation."""
        return time.monotonic() - self._moved_at if self._queued_records else 0.0

    def forward(self, batch: Batch) -> None:
        """Queues a batch. Its last record's confirmation stands for all: they share a partition, in order."""
        batch_bytes = batch.payload_bytes
        with self._lock:
            if not self._queued_records:
                self._moved_at = time.monotonic()
            self._queued_records += len(batch.payloads)
            self._queued_bytes += batch_bytes

        def confirmed(error: KafkaError | None, _: Message) -> None:
            self._note_confirmed(batch, batch_bytes, error)

        key = batch.source.key
        last = len(batch.payloads) - 1
        produce, topic = self._producer.produce, Kind.RECORDS.topic
        # One by one: librdkafka's call for whole batches cannot carry headers.
        for index, (payload, stamp) in enumerate(zip(batch.payloads, batch.stamps, strict=True)):
            headers: Headers = [(STAMP_HEADER, stamp)]
            if index == last:
                produce(topic, payload, key, headers=headers, on_delivery=confirmed)
            else:
                produce(topic, payload, key, headers=headers)

    def bury(self, payload: bytes, stream: str, reason: str) -> None:
        """Sends a message that cannot become a record to the dead letters."""
        DEAD_LETTERS.labels(reason).inc()
        headers: Headers = [(REASON_HEADER, reason.encode())]
        self._producer.produce(Kind.DEADLETTER.topic, key=stream, value=payload, headers=headers)

    def publish_marks(self) -> None:
        """Says what has been accepted, for every source where that changed."""
        with self._lock:
            changed = {
                source: last for source, last in self._confirmed.items() if self._marked.get(source) != last
            }
            self._marked.update(changed)
        for source, last in changed.items():
            mark = {
                "site": source.site,
                "gateway": source.gateway,
                "epoch": source.epoch,
                "stream": source.stream,
                "accepted": last,
            }
            self._producer.produce(Kind.MARKS.topic, key=source.identity, value=orjson.dumps(mark))

    def close(self, timeout_s: float) -> int:
        """Waits until Kafka has everything; gives the number of messages that it still has not."""
        self._producer.flush(timeout_s)
        self.publish_marks()
        left = self._producer.flush(timeout_s)
        self._stopping.set()
        self._poller.join()
        return left

    def _note_confirmed(self, batch: Batch, batch_bytes: int, error: KafkaError | None) -> None:
        had_room = self.has_room
        with self._lock:
            self._moved_at = time.monotonic()
            self._queued_records -= len(batch.payloads)
            self._queued_bytes -= batch_bytes
            if error is None:
                self._confirmed[batch.source] = batch.last_sequence
        if error is None:
            DELIVERED.inc(len(batch.payloads))
        else:
            log.error(
                "records %d to %d of %s were refused by Kafka: %s",
                batch.first_sequence,
                batch.last_sequence,
                batch.source.identity.decode(),
                error,
            )
        if self.has_room and not had_room:
            self._on_room()

    def _poll(self) -> None:
        while not self._stopping.is_set():
            self._producer.poll(POLL_S)
            QUEUED.set(self._queued_records)
