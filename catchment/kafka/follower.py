"""Following whole topics, from their beginning and for as long as the process lives."""

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from catchment.config import Config
from catchment.kafka.clients import consumer, end_offsets
from catchment.kafka.parties import Party

log = logging.getLogger(__name__)

BATCH_RECORDS = 10_000
POLL_S = 0.5
RETRY_S = 1.0
STOP_S = 2.0

_Place = tuple[str, int]


class TopicFollower:
    """Hands every batch of one or several topics to `handle`, in a thread of its own.

    It belongs to no consumer group and commits nothing: whoever follows keeps what it needs and reads
    the topics again after a restart. A broker that is away is waited for.
    """

    def __init__(
        self,
        config: Config,
        party: Party,
        topics: Sequence[str],
        handle: Callable[[Iterable[Message]], None],
    ) -> None:
        self._config = config
        self._party = party
        self._topics = topics
        self._handle = handle
        self._stopping = threading.Event()
        self._caught_up = threading.Event()
        self._goals: dict[_Place, int] = {}
        self._thread = threading.Thread(target=self._run, name=f"follow {' '.join(topics)}", daemon=True)

    @property
    def caught_up(self) -> bool:
        """Whether all that was on the topics when following began has been handled."""
        return self._caught_up.is_set()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            # Bounded, because a broker that is away can hold up a request for longer than a stop may take.
            self._thread.join(STOP_S)

    def _run(self) -> None:
        # The end is told: the last entry of a partition may be no record but the end of a transaction.
        source = consumer(self._config, self._party, enable_partition_eof=True)
        try:
            while not self._stopping.is_set() and not self._assign(source):
                self._stopping.wait(RETRY_S)
            while not self._stopping.is_set():
                self._take_batch(source)
        finally:
            source.close()

    def _assign(self, source: Consumer) -> bool:
        try:
            ends = {
                (topic, partition): end
                for topic in self._topics
                for partition, end in end_offsets(source, topic).items()
            }
        except KafkaException as error:
            log.warning("%s cannot be followed yet: %s", " and ".join(self._topics), error)
            return False
        self._goals = {place: end for place, end in ends.items() if end}
        source.assign([TopicPartition(topic, partition, 0) for topic, partition in ends])
        self._note_progress({})
        return True

    def _take_batch(self, source: Consumer) -> None:
        first = source.poll(POLL_S)
        if first is None:
            return
        heard = (first, *source.consume(BATCH_RECORDS, 0))
        self._handle([message for message in heard if _is_record(message)])
        self._note_progress({_place(message): _reached(message) for message in heard})

    def _note_progress(self, positions: dict[_Place, int]) -> None:
        for place, position in positions.items():
            if position >= self._goals.get(place, 0):
                self._goals.pop(place, None)
        if not self._goals:
            self._caught_up.set()


def _is_record(message: Message) -> bool:
    error = message.error()
    if error and error.code() != KafkaError._PARTITION_EOF:
        log.warning("reading goes on after: %s", error)
    return error is None


def _place(message: Message) -> _Place:
    return message.topic() or "", message.partition() or 0


def _reached(message: Message) -> int:
    """The offset up to which all has been read: the end is told by its own offset."""
    offset = message.offset()
    return -1 if offset is None else offset + (message.error() is None)


def by_topic(messages: Iterable[Message]) -> dict[str, list[Message]]:
    """The messages of a batch, parted by the topic that they came from."""
    parted: dict[str, list[Message]] = defaultdict(list)
    for message in messages:
        parted[message.topic() or ""].append(message)
    return parted
