"""Topics of a benchmark: made, emptied, and read with the times at which the broker wrote each record.

What a participant puts out is timed by the broker alone, and read when it is over: nothing has to keep up.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from catchment.bench.site import wait_for
from catchment.config import Config
from catchment.errors import PartFailed
from catchment.kafka.clients import admin, consumer
from catchment.kafka.parties import Party
from catchment.kafka.topics import TopicSpec

# What came first is looked for at the end: until then nothing may be compacted away.
TIMED_BY_BROKER = {
    "message.timestamp.type": "LogAppendTime",
    **dict.fromkeys(("min.compaction.lag.ms", "max.compaction.lag.ms"), "86400000"),
}
BATCH_RECORDS = 20_000
READ_S = 10.0
KNOWN_S = 30.0
MOST_SILENCES = 6

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Row:
    """A record as the broker wrote it."""

    key: bytes | None
    value: bytes | None
    written_ms: int
    headers: tuple[tuple[str, bytes], ...] = ()


class Output:
    """A topic that is looked at from a moment on."""

    def __init__(self, config: Config, topic: str) -> None:
        self._config = config
        self._client = admin(config)
        self._topic = topic
        self._from = _ends(self._client, topic)

    def restart(self) -> None:
        """From now on, what is there already does not count."""
        self._from = _ends(self._client, self._topic)

    def count(self) -> int:
        """Records since then."""
        return sum(_ends(self._client, self._topic).values()) - sum(self._from.values())

    def wait(self, count: int, check: Callable[[], None], timeout_s: float) -> None:
        """Returns when there are so many; `check` raises when there never will be."""
        wait_for(lambda: self.count() >= count, check, timeout_s, poll_s=0.1)

    def follow(self, enough: Callable[[Row], bool], check: Callable[[], None], timeout_s: float) -> None:
        """Hands out one record after the other as they come, until it hears that it was enough."""
        with consumer(self._config, Party.ADMIN) as reader:
            reader.assign([TopicPartition(self._topic, *place) for place in self._from.items()])
            wait_for(
                lambda: any(enough(_row(each)) for each in reader.consume(BATCH_RECORDS, 0)),
                check,
                timeout_s,
            )

    def rows(self) -> Iterator[Row]:
        """All of them, in the order of each partition."""
        yield from self._until(_ends(self._client, self._topic))

    def take(self) -> Iterator[Row]:
        """The same; what was handed out counts no more."""
        ends = _ends(self._client, self._topic)
        yield from self._until(ends)
        self._from = ends

    def _until(self, ends: dict[int, int]) -> Iterator[Row]:
        begin = {place: self._from[place] for place in ends if self._from[place] < ends[place]}
        with consumer(self._config, Party.ADMIN, enable_partition_eof=True) as reader:
            yield from _read(reader, self._topic, begin, ends)


def _row(message: Message) -> Row:
    headers = dict(message.headers() or ())
    given = tuple((name, value) for name, value in headers.items() if isinstance(value, bytes))
    return Row(message.key(), message.value(), message.timestamp()[1], given)


def _read(reader: Consumer, topic: str, begin: dict[int, int], ends: dict[int, int]) -> Iterator[Row]:
    left = dict(begin)
    silences = MOST_SILENCES
    reader.assign(_places(topic, left))
    while left:
        if (first := reader.poll(READ_S)) is None:
            # A partition of a client can stand still for no reason, until it is assigned anew.
            silences -= 1
            where = ", ".join(
                f"{each} from {offset} to {ends[each]}" for each, offset in sorted(left.items())
            )
            if not silences:
                said = f"Nothing came from {topic} for {MOST_SILENCES * READ_S:g} s (partitions {where})"
                raise PartFailed(said, "Run the benchmark again.")
            log.warning("nothing came from %s for %g s (partitions %s): asking anew", topic, READ_S, where)
            reader.assign(_places(topic, left))
            continue
        # With a time-out it would wait for a full batch.
        for message in (first, *reader.consume(BATCH_RECORDS, 0)):
            partition, offset = message.partition() or 0, message.offset() or 0
            if message.error() is None and partition in left:
                left[partition] = offset + 1
                if offset < ends[partition]:
                    yield _row(message)
            # Some records of a compacted topic may be gone, the last of all too.
            if message.error() or offset >= ends[partition] - 1:
                left.pop(partition, None)


def _places(topic: str, offsets: dict[int, int]) -> list[TopicPartition]:
    return [TopicPartition(topic, partition, offset) for partition, offset in offsets.items()]


def make(config: Config, specs: dict[str, TopicSpec]) -> None:
    """Makes topics whose records are timed by the broker."""
    topics = [
        NewTopic(name, spec.partitions, 1, config=spec.settings(1) | TIMED_BY_BROKER)
        for name, spec in specs.items()
    ]
    client = admin(config)
    for made in client.create_topics(topics).values():
        made.result()


def time_by_broker(config: Config, topics: Iterable[str]) -> None:
    """The same for topics that are there."""
    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in TIMED_BY_BROKER.items()
    ]
    changes = [ConfigResource(ResourceType.TOPIC, each, incremental_configs=entries) for each in topics]
    client = admin(config)
    for changed in client.incremental_alter_configs(changes).values():
        changed.result()


def empty(config: Config, topic: str) -> None:
    """Removes all records of a topic that is not compacted."""
    client = admin(config)
    places = [TopicPartition(topic, partition, end) for partition, end in _ends(client, topic).items()]
    for removed in client.delete_records(places).values():
        removed.result()


def _ends(client: AdminClient, topic: str) -> dict[int, int]:
    """The offset after the last record of every partition; that of a new topic is not known at once."""
    deadline_s = time.monotonic() + KNOWN_S
    while True:
        try:
            return _ends_now(client, topic)
        except KafkaException:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.05)


def _ends_now(client: AdminClient, topic: str) -> dict[int, int]:
    partitions = client.list_topics(topic).topics[topic].partitions
    latest = {TopicPartition(topic, each): OffsetSpec.latest() for each in partitions}  # type: ignore[no-untyped-call]
    asked = client.list_offsets(latest)
    return {place.partition: told.result().offset for place, told in asked.items()}
