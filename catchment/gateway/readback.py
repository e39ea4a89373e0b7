"""Reading back from Kafka what a gateway has sent: what is there, and whether it still is."""

from collections.abc import Iterator
from dataclasses import dataclass

from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from catchment.config import Config
from catchment.errors import InvalidRecord
from catchment.gateway.spool import Spool
from catchment.kafka.clients import bounds, consumer, end_offsets
from catchment.kafka.parties import Party
from catchment.records import STAMP_HEADER, Kind, Source, Stamp

TOPIC = Kind.RECORDS.topic
READ_S = 5.0
FETCH_BYTES = 16 * 1024


@dataclass(frozen=True)
class Place:
    """Where a record stands in Kafka."""

    partition: int
    offset: int
    source: Source
    sequence: int


@dataclass
class Held:
    """What Kafka has of one source, of all that the spool does not know to be safe."""

    newest: Place
    sequences: set[int]


class ReadBack:
    """A reader of the records topic, with the gateway's own identity."""

    def __init__(self, config: Config) -> None:
        self._site, self._gateway = config.site, config.gateway.name
        self.partitions = 1
        # Whatever is there counts, and the end of a partition is told: its last entry may be no record but
        # the end of a relay's transaction.
        self._reader = consumer(
            config,
            Party.GATEWAY,
            auto_offset_reset="error",
            fetch_wait_max_ms=100,
            # Most often one record is wanted: what comes along is little.
            queued_min_messages=1,
            max_partition_fetch_bytes=FETCH_BYTES,
            isolation_level="read_uncommitted",
            enable_partition_eof=True,
        )

    def held(self, spool: Spool) -> dict[Source, Held]:
        """What Kafka has of our sources: every number, because a power cut may leave holes."""
        ends = end_offsets(self._reader, TOPIC)
        self.partitions = len(ends)
        if not spool.progress.offsets:
            # A new spool: nothing of it can be there yet.
            spool.release(spool.progress.position, [], ends)
        found: dict[Source, Held] = {}
        for partition, end in ends.items():
            begin = max(spool.progress.offsets.get(partition, 0), self._oldest(partition))
            for message in self._read(partition, begin, end):
                place = self._place_of(message)
                if place:
                    held = found.setdefault(place.source, Held(place, set()))
                    held.newest = place
                    held.sequences.add(place.sequence)
        return found

    def still_there(self, places: list[Place]) -> bool:
        """Whether each record stands where it was confirmed to stand."""
        ends = end_offsets(self._reader, TOPIC) if places else {}
        for place in places:
            if ends.get(place.partition, 0) <= place.offset:
                return False
            messages = self._read(place.partition, place.offset, place.offset + 1)
            if [self._place_of(message) for message in messages] != [place]:
                return False
        return True

    def _oldest(self, partition: int) -> int:
        return bounds(self._reader, TopicPartition(TOPIC, partition), READ_S)[0]

    def _read(self, partition: int, begin: int, end: int) -> Iterator[Message]:
        if begin >= end:
            return
        self._reader.assign([TopicPartition(TOPIC, partition, begin)])
        try:
            position = begin
            while position < end:
                message = self._reader.poll(READ_S)
                if message is None:
                    raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
                if error := message.error():
                    if error.code() == KafkaError._PARTITION_EOF:
                        return
                    raise KafkaException(error)
                position = (message.offset() or 0) + 1
                yield message
        finally:
            self._reader.unassign()

    def _place_of(self, message: Message) -> Place | None:
        header = dict(message.headers() or []).get(STAMP_HEADER)
        try:
            stamp = Stamp.decode(header if isinstance(header, bytes) else b"")
        except InvalidRecord:
            return None
        if (stamp.source.site, stamp.source.gateway) != (self._site, self._gateway):
            return None
        return Place(message.partition() or 0, message.offset() or 0, stamp.source, stamp.sequence)
