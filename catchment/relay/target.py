"""The centre's Kafka as the relay of one site writes to it: records and positions in one transaction."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat, starmap
from operator import itemgetter
from typing import Any

from confluent_kafka import KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from catchment.config import Config
from catchment.kafka.clients import ANSWER_TIMEOUT_S, REQUEST_TIMEOUT_S, client_settings, producer
from catchment.kafka.committed import read_committed
from catchment.kafka.failures import explain, outcome
from catchment.kafka.parties import Party
from catchment.kafka.relaying import TRANSACTION_PREFIX
from catchment.kafka.topics import TopicSpec
from catchment.records import Kind
from catchment.relay.model import Incident, Place, Position

_RETENTION_HOURS = 7 * 24
_BATCH_RECORDS = 10_000
_COMPRESSION = "lz4"
# Waiting for a large batch holds up nothing: a commit sends what there is.
_REQUEST_BYTES = 1_000_000
_LINGER_MS = 50
_TIME_MS = itemgetter(1)
_NO_TIME_MS = 0


class _Commit(threading.Thread):
    """Commits a transaction while the next records are fetched; none is waited for when the process ends."""

    def __init__(self, writer: Producer, timeout_s: float) -> None:
        super().__init__(name="commit", daemon=True)
        self._writer = writer
        self._timeout_s = timeout_s
        self._error: KafkaException | None = None
        self.start()

    def run(self) -> None:
        try:
            self._writer.commit_transaction(self._timeout_s)
        except KafkaException as error:
            self._error = error

    def wait(self) -> None:
        self.join()
        if self._error:
            raise self._error


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
            batch_size=_REQUEST_BYTES,
            linger_ms=_LINGER_MS,
            # Nobody is told of records one by one: the transaction counts.
            delivery_report_only_error=True,
            queue_buffering_max_messages=2 * config.relay.batch_records + 10_000,
            queue_buffering_max_kbytes=2**31 - 1,
        )
        self._admin = AdminClient(client_settings(config, Party.RELAY))
        self._committing: _Commit | None = None
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
        patience_s = self._config.relay.transaction_timeout_s
        for message in read_committed(self._config, Party.RELAY, Kind.RELAYED, patience_s):
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
        self.settle()

    def write(
        self, records: Sequence[Message], positions: Iterable[Position], confirm: Callable[[], None]
    ) -> None:
        """Writes records and where they end, all of it or nothing; nothing also if `confirm` raises.

        The transaction is committed in the background: `settle` says when, and nothing else may be written
        before.
        """
        self._producer.begin_transaction()
        # Half of the relay's time is spent here, for every record: so no loop in Python.
        deque(starmap(self._producer.produce, _arguments(records)), maxlen=0)
        confirm()
        self._finish(positions)

    def settle(self) -> None:
        """Waits until what was written is committed."""
        committing, self._committing = self._committing, None
        if committing:
            committing.wait()

    def _finish(self, rows: Iterable[Position | Incident]) -> None:
        for row in rows:
            self._producer.produce(Kind.RELAYED.topic, row.model_dump_json(), row.key)
        self._committing = _Commit(self._producer, self._config.relay.transaction_timeout_s)


def _arguments(records: Sequence[Message]) -> Iterator[tuple[Any, ...]]:
    """What `produce` takes for each record, by position."""
    no_callbacks = repeat(None), repeat(None)
    times_ms: list[int] = list(map(_TIME_MS, map(Message.timestamp, records)))
    if min(times_ms) < 0:
        times_ms = [max(time_ms, _NO_TIME_MS) for time_ms in times_ms]
    return zip(
        map(Message.topic, records),
        map(Message.value, records),
        map(Message.key, records),
        map(Message.partition, records),
        *no_callbacks,
        times_ms,
        map(Message.headers, records),
        strict=False,
    )
