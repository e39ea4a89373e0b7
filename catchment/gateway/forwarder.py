"""From the spool to Kafka: in order, until Kafka has it and it is safe there.

What fails, and what happens then:
- Kafka is away: librdkafka retries for ever; the spool fills; nothing is dropped for having waited.
- Kafka refuses for good, or has lost what it had confirmed (a power cut): seen when a batch fails or when
  it is read back. The forwarder looks up what Kafka has and goes on from there: nothing is missing or twice.
- The process dies: the same look-up, at the next start.
"""

import logging
import threading
import time
from collections import Counter as Counts
from collections import deque
from collections.abc import Callable, Sequence

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from catchment.config import Config
from catchment.gateway.marks import Marks
from catchment.gateway.readback import Held, Place, ReadBack
from catchment.gateway.release import Releaser, Sent
from catchment.gateway.routing import Router
from catchment.gateway.spool import Batch, Spool
from catchment.gateway.spool.format import Placed
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.metrics import counter, gauge
from catchment.records import REASON_HEADER, STAMP_HEADER, Kind, Source, encode_stamps

log = logging.getLogger(__name__)

DELIVERED = counter("catchment_gateway_delivered_records_total")
DEAD_LETTERS = counter("catchment_gateway_dead_letters_total")
QUEUED = gauge("catchment_gateway_queued_records")

IDLE_S = 0.5
BUSY_S = 0.01
RETRY_S = 1.0

Headers = list[tuple[str, str | bytes | None]]


class Forwarder:
    """Runs in a thread of its own, which alone touches producer and spool positions."""

    def __init__(self, config: Config, spool: Spool) -> None:
        self._config = config
        self._spool = spool
        self._readback = ReadBack(config)
        waits_s = config.gateway.spool.safe_after_s if config.kafka.replication_factor < 2 else 0.0
        self._releaser = Releaser(spool, self._readback, waits_s)
        self._marks = Marks(config, spool)
        self._producer: Producer | None = None
        self._generation = 0
        self._in_flight: deque[Sent] = deque()
        self._confirmed_end = spool.progress.position
        self._queued_records = 0
        self._queued_bytes = 0
        self._queued_to: Counts[int] = Counts()
        self._router = Router(config.gateway.routing, config.gateway.hashing, spool.epoch, spool.sequences)
        self._position = spool.progress.position
        self._held: dict[Source, Held] = {}
        self._sources: dict[tuple[int, str], Source] = {}
        self._must_look_up = True
        self._mark_at = 0.0
        self._moved_at = time.monotonic()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="forwarder", daemon=True)
        self.confirmed_records = 0

    @property
    def queued_records(self) -> int:
        """Records in the spool that Kafka has not confirmed: at least those on their way."""
        return self._queued_records

    @property
    def behind_bytes(self) -> int:
        """What stands in the spool and Kafka has not confirmed."""
        return self._spool.end - self._confirmed_end

    @property
    def stalled_for_s(self) -> float:
        """For how long there has been something to forward without any confirmation."""
        return time.monotonic() - self._moved_at if self.behind_bytes else 0.0

    def start(self) -> None:
        self._thread.start()
        self._releaser.start()

    def close(self, timeout_s: float) -> int:
        """Forwards what the spool has, for a while; gives the bytes that stay in it for the next start."""
        deadline = time.monotonic() + timeout_s
        while self.behind_bytes and time.monotonic() < deadline:
            time.sleep(BUSY_S)
        left = self.behind_bytes
        self._stopping.set()
        self._thread.join()
        self._releaser.stop()
        return left

    def _run(self) -> None:
        while not self._stopping.is_set():
            if self._must_look_up and not self._look_up():
                self._stopping.wait(RETRY_S)
                continue
            try:
                self._step()
            except KafkaException as error:
                self._note_trouble(error)
        if self._producer:
            self._marks.publish(self._producer)
            self._producer.flush(1.0)

    def _step(self) -> None:
        assert self._producer
        waits_s = BUSY_S if self._in_flight else IDLE_S
        if not self._has_room() or (
            self._spool.wait_beyond(self._position, waits_s) and not self._send_some()
        ):
            self._producer.poll(BUSY_S)
        self._producer.poll(0)
        while self._in_flight and self._in_flight[0].confirmed_at is not None:
            sent = self._in_flight.popleft()
            self._releaser.add(sent)
            self._confirmed_end = sent.placed.end
        QUEUED.set(self._queued_records)
        self._must_look_up |= self._releaser.has_lost
        if time.monotonic() >= self._mark_at:
            self._mark_at = time.monotonic() + self._config.gateway.mark_interval_s
            self._marks.publish(self._producer)

    def _has_room(self) -> bool:
        settings = self._config.gateway
        return self._queued_records < settings.queue_records and self._queued_bytes < settings.queue_mib << 20

    def _has_room_for(self, batch: Batch) -> bool:
        if batch.reason or not batch.payloads:
            return self._has_room()
        queued = self._queued_to[self._router.partition_of(self._source_of(batch))]
        return self._has_room() and queued < self._config.gateway.queue_partition_records

    def _send_some(self) -> bool:
        """Sends what there is room for; says whether that was anything."""
        before = self._position
        for placed in self._spool.take(self._position):
            if not self._has_room_for(placed.batch):
                break
            if not self._queued_bytes:
                self._moved_at = time.monotonic()
            self._send(placed)
            self._position = placed.end
        return self._position > before

    def _send(self, placed: Placed) -> None:
        batch = placed.batch
        sent = Sent(placed)
        self._in_flight.append(sent)
        if batch.reason:
            self._send_dead_letters(sent)
            return
        source = self._source_of(batch)
        held = self._held.get(source)
        numbers: Sequence[int] = range(batch.first_sequence, batch.last_sequence + 1)
        payloads = batch.payloads
        if held:
            numbers = [number for number in numbers if number not in held.sequences]
            payloads = [payloads[number - batch.first_sequence] for number in numbers]
        if numbers:
            self._send_records(sent, source, numbers, payloads)
        else:
            sent.confirmed_at, sent.place = time.monotonic(), held.newest if held else None

    def _send_records(
        self, sent: Sent, source: Source, numbers: Sequence[int], payloads: Sequence[bytes]
    ) -> None:
        assert self._producer
        produce, topic, key = self._producer.produce, Kind.RECORDS.topic, source.key
        partition = self._router.partition_of(source)
        *stamps, last = encode_stamps(source.identity, numbers, sent.placed.batch.origin_us)
        for payload, stamp in zip(payloads, stamps, strict=False):
            produce(topic, payload, key, partition, headers=[(STAMP_HEADER, stamp)])
        # The last one's confirmation stands for all: they share a partition, in order.
        confirmed = self._confirmation(sent, numbers[-1])
        produce(topic, payloads[-1], key, partition, confirmed, headers=[(STAMP_HEADER, last)])
        self._note_queued(sent.placed.batch, 1)

    def _send_dead_letters(self, sent: Sent) -> None:
        assert self._producer
        batch = sent.placed.batch
        headers: Headers = [(REASON_HEADER, batch.reason.encode())]
        for payload in batch.payloads:
            DEAD_LETTERS.labels(batch.reason).inc()
            self._producer.produce(
                Kind.DEADLETTER.topic,
                payload,
                batch.stream,
                headers=headers,
                on_delivery=self._confirmation(sent),
            )
        self._note_queued(batch, 1)

    def _confirmation(
        self, sent: Sent, last_sequence: int = 0
    ) -> Callable[[KafkaError | None, Message], None]:
        generation = self._generation

        def confirmed(error: KafkaError | None, message: Message) -> None:
            if generation != self._generation:
                return
            if error:
                self._note_trouble(error)
                return
            batch = sent.placed.batch
            self._moved_at = sent.confirmed_at = time.monotonic()
            self._note_queued(batch, -1)
            if not batch.reason:
                sent.place = Place(
                    message.partition() or 0,
                    message.offset() or 0,
                    self._source_of(batch),
                    last_sequence,
                )
                DELIVERED.inc(len(batch.payloads))
                self.confirmed_records += len(batch.payloads)

        return confirmed

    def _note_trouble(self, error: object) -> None:
        """After a power cut Kafka may be behind what it had confirmed, and then refuses what comes next."""
        if not self._must_look_up:
            log.warning("Kafka refuses to go on (%s): looking up what it has", error)
        self._must_look_up = True

    def _note_queued(self, batch: Batch, sign: int) -> None:
        records = sign * len(batch.payloads)
        self._queued_records += records
        self._queued_bytes += sign * batch.payload_bytes
        if not batch.reason:
            self._queued_to[self._router.partition_of(self._source_of(batch))] += records

    def _look_up(self) -> bool:
        """Asks Kafka what it has of what the spool still holds, and begins again behind that."""
        self._generation += 1
        if self._producer:
            self._producer.purge()
        try:
            with self._releaser.lock:
                self._held = self._readback.held(self._spool)
                self._releaser.forget()
        except (KafkaException, OSError) as error:
            log.warning("it is not known yet what Kafka has: %s", error)
            return False
        self._router.begin(self._readback.partitions)
        self._producer = self._new_producer()
        self._in_flight.clear()
        self._marks.forget()
        self._queued_records = self._queued_bytes = 0
        self._queued_to.clear()
        self._position = self._confirmed_end = self._spool.progress.position
        self._must_look_up = False
        return True

    def _new_producer(self) -> Producer:
        settings = self._config.gateway
        timeout_ms = round(settings.send_timeout_s * 1000)
        return producer(
            self._config,
            Party.GATEWAY,
            linger_ms=settings.linger_ms,
            compression_type=settings.compression.value,
            # Requests that take longer are repeated: the broker recognises what it has already.
            socket_timeout_ms=timeout_ms,
            request_timeout_ms=timeout_ms,
            queue_buffering_max_messages=10_000_000,
            queue_buffering_max_kbytes=2_097_151,
        )

    def _source_of(self, batch: Batch) -> Source:
        known = self._sources.get((batch.epoch, batch.stream))
        if known is None:
            known = Source(self._config.site, self._config.gateway.name, batch.epoch, batch.stream)
            self._sources[batch.epoch, batch.stream] = known
        return known
