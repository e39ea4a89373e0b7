"""Reads this instance's share of the changelog into shards, and hands partitions over without a gap."""

import gc
import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from catchment.config import Config
from catchment.kafka.clients import consumer, end_offsets
from catchment.kafka.parties import Party
from catchment.records import Kind
from catchment.twins.shard import Row, Shard

log = logging.getLogger(__name__)

TOPIC = Kind.TWINS.topic
VERSION_HEADER = "catchment-version"
BATCH_RECORDS = 5_000
FETCH_WAIT_MS = 200
_POLL_S = 0.1
_RETRY_S = 1.0
_LOOK_AGAIN_S = 10.0
_STOP_S = 3.0

# What this instance has to have, and what it may let go of, given the number of partitions.
Shares = Callable[[int], tuple[set[int], set[int]]]


class Changelog:
    """Shards of the partitions that this instance holds; those in `ready` have been read to their end."""

    def __init__(self, config: Config, shares: Shares, on_ready: Callable[[], None]) -> None:
        self._config = config
        self._shares = shares
        self._on_ready = on_ready
        self.partitions = 0
        self.shards: dict[int, Shard] = {}
        self.ready: frozenset[int] = frozenset()
        self._goals: dict[int, int] = {}
        self._positions: dict[int, int] = {}
        self._looked_s = 0.0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="twin changelog", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_S)
        gc.unfreeze()

    def lag_records(self) -> int:
        """How far behind the partitions that are being read are, as of the start of each."""
        return sum(max(0, goal - self._positions.get(each, 0)) for each, goal in dict(self._goals).items())

    def _run(self) -> None:
        # What is taken on has to wait for the answer that is under way for the rest: never for long.
        source = consumer(self._config, Party.API, enable_partition_eof=True, fetch_wait_max_ms=FETCH_WAIT_MS)
        try:
            while not self._stopping.is_set():
                try:
                    self._settle(source)
                except KafkaException as error:
                    log.warning("the partitions of %s cannot be looked up: %s", TOPIC, error)
                    self._stopping.wait(_RETRY_S)
                self._take_batch(source)
        finally:
            source.close()

    def _settle(self, source: Consumer) -> None:
        """Takes on what falls to this instance, and lets go of what others have taken on."""
        if time.monotonic() - self._looked_s > _LOOK_AGAIN_S:
            self.partitions = len(source.list_topics(TOPIC, timeout=_LOOK_AGAIN_S).topics[TOPIC].partitions)
            self._looked_s = time.monotonic()
        wanted, dispensable = self._shares(self.partitions)
        held = self.shards.keys()
        if dropped := (held - wanted) & dispensable:
            self._drop(source, dropped)
        if taken := wanted - held:
            self._begin(source, taken)

    def _begin(self, source: Consumer, partitions: set[int]) -> None:
        ends = end_offsets(source, TOPIC)
        self.shards = self.shards | {partition: Shard() for partition in partitions}
        for partition in partitions:
            self._goals[partition] = ends.get(partition, 0)
        source.incremental_assign([TopicPartition(TOPIC, partition, 0) for partition in partitions])
        self._note_progress({})

    def _drop(self, source: Consumer, partitions: set[int]) -> None:
        source.incremental_unassign([TopicPartition(TOPIC, partition) for partition in partitions])
        self.ready = self.ready - partitions
        # Whoever is asking one of them at this moment still has it.
        self.shards = {each: shard for each, shard in self.shards.items() if each not in partitions}
        for partition in partitions:
            self._goals.pop(partition, None)
            self._positions.pop(partition, None)
        self._on_ready()

    def _take_batch(self, source: Consumer) -> None:
        first = source.poll(_POLL_S)
        if first is None:
            return
        rows: dict[int, list[Row]] = defaultdict(list)
        positions: dict[int, int] = {}
        for message in (first, *source.consume(BATCH_RECORDS, 0)):
            partition, offset = message.partition() or 0, message.offset()
            error = message.error()
            if error is None:
                rows[partition].append(row_of(message))
            elif error.code() != KafkaError._PARTITION_EOF:
                log.warning("reading goes on after: %s", error)
                continue
            positions[partition] = (offset or 0) + (error is None)
        for partition, those in rows.items():
            # What was fetched before its partition was let go of is nobody's.
            if shard := self.shards.get(partition):
                shard.take(those)
        self._note_progress(positions)

    def _note_progress(self, positions: dict[int, int]) -> None:
        self._positions |= {each: at for each, at in positions.items() if each in self.shards}
        reached = {each for each, goal in self._goals.items() if self._positions.get(each, 0) >= goal}
        if reached:
            for partition in reached:
                del self._goals[partition]
            self.ready = self.ready | reached
            # What was read stays: the collector need not look through it again and again.
            gc.freeze()
            self._on_ready()


def row_of(message: Message) -> Row:
    """What a message of the changelog says."""
    key, body = (message.key() or b"").decode(errors="replace"), message.value()
    if body is not None:
        return Row(key, body)
    headers = dict(message.headers() or ())
    version = headers.get(VERSION_HEADER)
    text = version.decode(errors="replace") if isinstance(version, bytes) else version or ""
    return Row(key, None, int(text) if text.isdigit() else None)
