"""The centre's Kafka as the relay of one site writes to it: records and positions in one transaction."""

import time
from collections.abc import Callable, Iterable
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from catchment.config import Config
from catchment.errors import BrokerUnavailable
from catchment.kafka.clients import ANSWER_TIMEOUT_S, REQUEST_TIMEOUT_S, client_settings, consumer, producer
from catchment.kafka.failures import explain, outcome
from catchment.kafka.parties import Party
from catchment.kafka.relaying import TRANSACTION_PREFIX
from catchment.kafka.topics import TopicSpec
from catchment.records import Kind
from catchment.relay.model import Incident, Place, Position
from catchment.relay.source import LATEST

_RETENTION_HOURS = 7 * 24
_BATCH_RECORDS = 10_000
_COMPRESSION = "lz4"
_NOT_AVAILABLE_MS = 0


class Target:
    """Writes for one site. Whoever wrote for it before cannot any more."""

    def __init__(self, config: Config, site: str) -> None:
        self._config = config
        self._site = site
        timeout_ms = round(config.relay.transaction_timeout_s * 1000)
        self._producer = producer(
            config,
            Party.RELAY,
            transactional_id=f"{TRANSACTION_PREFIX}{site}",
            transaction_timeout_ms=timeout_ms,
            message_timeout_ms=timeout_ms,
            socket_timeout_ms=round(min(config.relay.transaction_timeout_s, ANSWER_TIMEOUT_S) * 1000),
            compression_type=_COMPRESSION,
            queue_buffering_max_messages=2 * config.relay.batch_records + 10_000,
            queue_buffering_max_kbytes=2**31 - 1,
        )
        self._admin = AdminClient(client_settings(config, Party.RELAY))
        try:
            self._producer.init_transactions(config.relay.transaction_timeout_s)
        except KafkaException as error:
            raise explain("Taking over the relay's transactions", error) from None

    def cluster_id(self) -> str | None:
        return self._admin.list_topics(timeout=REQUEST_TIMEOUT_S).cluster_id

    def recover(self) -> tuple[dict[Place, Position], list[Incident]]:
        """How far the site was relayed, and its incidents. Nobody else writes them any more."""
        positions: dict[Place, Position] = {}
        incidents: list[Incident] = []
        for message in self._committed_rows():
            kind, site = (message.key() or b"").decode().split("/")[:2]
            if site != self._site:
                continue
            if kind == "incident":
                incidents.append(Incident.model_validate_json(message.value() or b""))
            else:
                position = Position.model_validate_json(message.value() or b"")
                positions[Place(position.topic, position.partition)] = position
        return positions, incidents

    def ensure(self, topic: str, partitions: int, settings: Callable[[], dict[str, str]]) -> None:
        """Makes the topic if there is none, with the site's settings, and lets it grow with the site's."""
        present = self._admin.list_topics(timeout=REQUEST_TIMEOUT_S).topics.get(topic)
        if present is None:
            copies = self._config.kafka.replication_factor
            usual = TopicSpec(partitions, _RETENTION_HOURS).settings(copies)
            created = self._admin.create_topics(
                [NewTopic(topic, partitions, copies, config={**usual, **settings()})]
            )
            outcome(f"Creating {topic}", created[topic])
        elif len(present.partitions) < partitions:
            grown = self._admin.create_partitions([NewPartitions(topic, partitions)])
            outcome(f"Adding partitions to {topic}", grown[topic])

    def note(self, positions: Iterable[Position], incidents: Iterable[Incident]) -> None:
        """Writes down where reading goes on, and why."""
        self._producer.begin_transaction()
        self._finish([*positions, *incidents])

    def write(
        self, records: Iterable[Message], positions: Iterable[Position], confirm: Callable[[], None]
    ) -> None:
        """Writes records and where they end, all of it or nothing; nothing also if `confirm` raises."""
        self._producer.begin_transaction()
        # What Kafka delivered has all of these, which the library's types do not say.
        produce: Any = self._producer.produce
        for record in records:
            produce(
                record.topic(),
                record.value(),
                record.key(),
                record.partition(),
                timestamp=max(record.timestamp()[1], _NOT_AVAILABLE_MS),
                headers=record.headers(),
            )
        confirm()
        self._finish(positions)

    def _finish(self, rows: Iterable[Position | Incident]) -> None:
        for row in rows:
            self._producer.produce(Kind.RELAYED.topic, row.model_dump_json(), row.key)
        self._producer.commit_transaction(self._config.relay.transaction_timeout_s)

    def _committed_rows(self) -> list[Message]:
        """All rows there are. Those behind an unfinished transaction of another site are waited for."""
        place = TopicPartition(Kind.RELAYED.topic, 0)
        # Asked by the administrator's client, which also counts what is not committed yet.
        answer = self._admin.list_offsets({place: LATEST}, request_timeout=REQUEST_TIMEOUT_S)
        end: int = outcome("Reading the relay's positions", answer[place]).offset
        # Short waits, because the end is told only when a fetch has come back with nothing.
        reader = consumer(self._config, Party.RELAY, enable_partition_eof=True, fetch_wait_max_ms=50)
        try:
            reader.assign([TopicPartition(Kind.RELAYED.topic, 0, 0)])
            return _read_up_to(reader, end, self._config.relay.transaction_timeout_s + REQUEST_TIMEOUT_S)
        finally:
            reader.close()


def _read_up_to(reader: Consumer, end: int, patience_s: float) -> list[Message]:
    rows: list[Message] = []
    reached = 0
    deadline_s = time.monotonic() + patience_s
    while reached < end:
        first = reader.poll(0.5)
        batch: list[Any] = [first, *reader.consume(_BATCH_RECORDS, 0)] if first else []
        for message in batch:
            error = message.error()
            if error and error.code() != KafkaError._PARTITION_EOF:
                raise explain("Reading the relay's positions", error)
            reached = message.offset() + (0 if error else 1)
            rows += [] if error else [message]
        if time.monotonic() > deadline_s:
            raise BrokerUnavailable(
                f"The relay's positions could be read up to {reached} of {end} only", "It is tried again."
            )
    return rows
