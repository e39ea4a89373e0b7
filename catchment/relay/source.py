"""A site's Kafka as the relay sees it: which topics there are, what they hold, and the records themselves."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec, ResourceType

from catchment.config.relay import RelaySettings
from catchment.errors import CatchmentError
from catchment.kafka.clients import REQUEST_TIMEOUT_S, connection, consumer_settings
from catchment.kafka.failures import explain, outcome
from catchment.kafka.parties import Party
from catchment.relay.allow import allowed
from catchment.relay.model import Extent, Place, Position
from catchment.relay.register import Site
from catchment.security.authority import Identity

# What a topic at the centre takes over from the site's when it is made.
_SETTINGS = ("cleanup.policy", "retention.ms", "max.message.bytes")

# Typed here, because the library leaves them untyped.
EARLIEST: OffsetSpec = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
LATEST: OffsetSpec = OffsetSpec.latest()  # type: ignore[no-untyped-call]
NO_EPOCH = -1


class SourceChanged(Exception):
    """A topic that was being read is gone, or another one of the same name; never shown to anybody."""


class Source:
    """Reads from one site; belongs to no consumer group there, and leaves nothing behind."""

    def __init__(self, site: Site, identity: Identity, settings: RelaySettings) -> None:
        self._site = site.name
        self._settings = settings
        clients = connection(site.bootstrap_servers, identity, f"catchment.relay.{site.name}")
        self._admin = AdminClient(clients)
        self._consumer = Consumer({**clients, **consumer_settings(Party.RELAY), **self._reading()})
        self._reading_now: set[Place] = set()

    def _reading(self) -> dict[str, Any]:
        return {
            # What cannot be read where it should be is looked into, never skipped.
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            # A new partition is read only when the fetch that is under way for the others has come back.
            "fetch.wait.max.ms": 500,
            "queued.max.messages.kbytes": self._settings.queue_mib * 1024,
        }

    def cluster_id(self) -> str | None:
        cluster_id: str | None = self._metadata().cluster_id
        return cluster_id

    def look(self) -> dict[Place, Extent]:
        """Every partition that may be relayed, and what it holds now."""
        names = allowed(self._metadata().topics, self._settings.allow)
        if not names:
            return {}
        described = self._admin.describe_topics(
            TopicCollection(sorted(names)), request_timeout=REQUEST_TIMEOUT_S
        )
        ids: dict[Place, str] = {}
        for name, future in described.items():
            topic = outcome(f"Describing {name} of {self._site}", future)
            ids |= {Place(name, partition.id): str(topic.topic_id) for partition in topic.partitions}
        first, end = self._offsets(ids, EARLIEST), self._offsets(ids, LATEST)
        return {place: Extent(topic_id, first[place], end[place]) for place, topic_id in ids.items()}

    def confirm(self, topic_ids: Mapping[str, str]) -> Callable[[], None]:
        """Asks whether topics are still the same; what is returned waits for the answer.

        Kafka delivers by name: after a topic was recreated, reading goes on in the new one as if nothing had
        happened. Asked after records have come, the answer says which topic they were from.
        """
        names = TopicCollection(list(topic_ids))
        answers = self._admin.describe_topics(names, request_timeout=REQUEST_TIMEOUT_S)

        def wait() -> None:
            for name, future in answers.items():
                try:
                    same = str(future.result().topic_id) == topic_ids[name]
                except KafkaException as error:
                    if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                        raise
                    same = False
                if not same:
                    raise SourceChanged(name)

        return wait

    def settings_of(self, topic: str) -> dict[str, str]:
        """How the site keeps a topic, as far as it lets us know."""
        resource = ConfigResource(ResourceType.TOPIC, topic)
        try:
            found = outcome(
                f"Reading the settings of {topic}", self._admin.describe_configs([resource])[resource]
            )
        except CatchmentError:
            return {}
        return {name: found[name].value for name in _SETTINGS}

    def read_from(self, positions: Mapping[Place, Position]) -> None:
        """Reads partitions from these positions on, whatever was read of them before."""
        self.leave(positions)
        # All at once: a fetch that is under way for some of them would hold up the others. With the term of
        # the leader Kafka sees whether the log before the offset is still the same.
        self._consumer.incremental_assign(
            [
                TopicPartition(*place, position.next_offset, leader_epoch=_term(position))
                for place, position in positions.items()
            ]
        )
        self._reading_now |= positions.keys()

    def leave(self, places: Iterable[Place]) -> None:
        """Reads these partitions no more."""
        leaving = self._reading_now & set(places)
        if leaving:
            self._consumer.incremental_unassign([TopicPartition(*place) for place in leaving])
            self._reading_now -= leaving

    def take(self, wait_s: float) -> list[Message]:
        """What has come, records and news of partitions; waits for something first."""
        first = self._consumer.poll(wait_s)
        if first is None:
            return []
        return [
            first,
            *self._consumer.consume(self._settings.batch_records - 1, self._settings.batch_wait_ms / 1000),
        ]

    def close(self) -> None:
        self._consumer.close()

    def _metadata(self) -> Any:
        try:
            # Not by the client that reads: if it knows a partition's leader before it is told where to begin,
            # it does not ask whether the log before that is still the same.
            return self._admin.list_topics(timeout=REQUEST_TIMEOUT_S)
        except KafkaException as error:
            raise explain(f"Asking the site {self._site}", error) from None

    def _offsets(self, places: Iterable[Place], spec: OffsetSpec) -> dict[Place, int]:
        asked = {TopicPartition(*place): spec for place in places}
        answers = self._admin.list_offsets(asked, request_timeout=REQUEST_TIMEOUT_S)
        return {
            Place(place.topic, place.partition): outcome(f"Asking the site {self._site}", future).offset
            for place, future in answers.items()
        }


def _term(position: Position) -> int:
    return NO_EPOCH if position.leader_epoch is None else position.leader_epoch
