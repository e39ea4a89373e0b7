"""Following topics from a little while ago, for readers that need no more than the recent past."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence

from confluent_kafka import OFFSET_END, Consumer, KafkaException, Message, TopicPartition

from catchment.config import Config
from catchment.kafka.clients import REQUEST_TIMEOUT_S, bounds, consumer
from catchment.kafka.follower import BATCH_RECORDS, POLL_S, RETRY_S, STOP_S, log
from catchment.kafka.parties import Party


class RecentFollower:
    """Hands every batch of some topics to `handle`, from `since_s` seconds ago on, in a thread of its own."""

    def __init__(
        self,
        config: Config,
        party: Party,
        topics: Sequence[str],
        handle: Callable[[Iterable[Message]], None],
        since_s: float = 0.0,
    ) -> None:
        self._config = config
        self._party = party
        self._topics = topics
        self._handle = handle
        self._since_s = since_s
        self._stopping = threading.Event()
        self.following = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"follow {' '.join(topics)}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Stops without waiting for it."""
        self._stopping.set()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(STOP_S)

    def _run(self) -> None:
        source = consumer(self._config, self._party)
        try:
            while not self._stopping.is_set() and not self._assign(source):
                self._stopping.wait(RETRY_S)
            self.following.set()
            while not self._stopping.is_set():
                if (first := source.poll(POLL_S)) is not None:
                    heard = (first, *source.consume(BATCH_RECORDS, 0))
                    self._handle([message for message in heard if _is_record(message)])
        finally:
            source.close()

    def _assign(self, source: Consumer) -> bool:
        since_ms = round((time.time() - self._since_s) * 1000)
        try:
            places = [
                TopicPartition(topic, partition, since_ms)
                for topic in self._topics
                for partition in source.list_topics(topic, timeout=REQUEST_TIMEOUT_S).topics[topic].partitions
            ]
            starts = source.offsets_for_times(places, timeout=REQUEST_TIMEOUT_S)
            # What is the end now must not be looked up later, when it may be further on.
            settled = [_settled(source, start) for start in starts]
        except KafkaException as error:
            log.warning("%s cannot be followed yet: %s", " and ".join(self._topics), error)
            return False
        source.assign(settled)
        return True


def _settled(source: Consumer, start: TopicPartition) -> TopicPartition:
    if start.error:
        raise KafkaException(start.error)
    if start.offset not in (OFFSET_END, -1):
        return start
    _, end = bounds(source, start)
    return TopicPartition(start.topic, start.partition, end)


def _is_record(message: Message) -> bool:
    if error := message.error():
        log.warning("reading goes on after: %s", error)
        return False
    return True
