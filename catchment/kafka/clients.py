"""Clients of Kafka, each with the identity of one party."""

import logging
import time
from collections.abc import Iterable, Iterator
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from catchment.config import Config
from catchment.errors import BrokerUnavailable
from catchment.kafka.failures import explain
from catchment.kafka.identities import bootstrap_servers, identity_of, java_file_of
from catchment.kafka.parties import Party
from catchment.security.authority import Identity

REQUEST_TIMEOUT_S = 10.0
ANSWER_TIMEOUT_S = 8.0
# The longest line that a gateway may be set to take, with headers and the frame of a batch.
MAX_RECORD_BYTES = 10_000_000 + 65_536

# The most that one answer to a reader holds, and that is on its way from a writer: a link of 1 Mbit/s carries
# it within the time for an answer.
UNDER_WAY_BYTES = 1_000_000
# The first is what librdkafka takes for the largest record, which the second must not be below.
SMALL_ANSWERS = {"message.max.bytes": UNDER_WAY_BYTES, "fetch.max.bytes": UNDER_WAY_BYTES}
_REQUESTS_AT_ONCE = 5

_BATCH_RECORDS = 10_000
_REPEAT_AFTER_S = 30.0
_LEADER_IS_SOUGHT = {KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE}
_ASKED_AGAIN_S = 0.1


class _Patience(logging.Filter):
    """Lets one line of a kind and client through at a time: a broker that is away is news only once.

    What librdkafka asks again by itself, as of a broker that has just started, is no news at all.
    """

    def __init__(self) -> None:
        super().__init__()
        self._last_s: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if message.endswith(": retrying"):
            return False
        kind_and_client = message.partition("#")[0]
        now_s = time.monotonic()
        if now_s - self._last_s.get(kind_and_client, -_REPEAT_AFTER_S) < _REPEAT_AFTER_S:
            return False
        self._last_s[kind_and_client] = now_s
        return True


_log = logging.getLogger("catchment.kafka.librdkafka")
_log.addFilter(_Patience())


def client_settings(config: Config, party: Party) -> dict[str, Any]:
    """What every librdkafka client of a party needs."""
    return connection(bootstrap_servers(config), identity_of(config, party), f"catchment.{party}")


def connection(servers: str, identity: Identity, client_id: str) -> dict[str, Any]:
    """What every librdkafka client needs, of whichever cluster."""
    return {
        "bootstrap.servers": servers,
        "client.id": client_id,
        "security.protocol": "ssl",
        "ssl.ca.location": str(identity.ca_file),
        "ssl.certificate.location": str(identity.certificate_file),
        "ssl.key.location": str(identity.key_file),
        # A broker that is back is found within about a second.
        "reconnect.backoff.ms": 50,
        "reconnect.backoff.max.ms": 1000,
        "socket.connection.setup.timeout.ms": 5000,
        # A connection that was cut without a word looks well for a quarter of an hour, and the system tries
        # it ever more seldom. What is not answered for so long is sent again over a new one.
        "socket.timeout.ms": round(ANSWER_TIMEOUT_S * 1000),
        "log.connection.close": False,
        "logger": _log,
    }


def producer(config: Config, party: Party, **settings: Any) -> Producer:
    """A producer that loses and repeats nothing; settings are librdkafka's, with underscores for dots.

    What cannot be sent now waits, however long: there is no time-out after which records are dropped.
    """
    defaults = {
        "enable.idempotence": True,
        "message.timeout.ms": 0,
        "message.max.bytes": MAX_RECORD_BYTES,
        "batch.size": UNDER_WAY_BYTES // _REQUESTS_AT_ONCE,
    }
    return Producer({**client_settings(config, party), **defaults, **_dotted(settings)})


def consumer(config: Config, party: Party, **settings: Any) -> Consumer:
    """A consumer that commits nothing by itself; settings are librdkafka's, with underscores for dots."""
    return Consumer({**client_settings(config, party), **consumer_settings(party), **_dotted(settings)})


def consumer_settings(party: Party) -> dict[str, Any]:
    """How all our consumers read."""
    return {
        "group.id": party.group,
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        # By default a full queue pauses fetching for a second, which halves the pace of catching up.
        "fetch.queue.backoff.ms": 1,
        **SMALL_ANSWERS,
        # A fetch is answered as soon as there is a record: this is only how often an idle reader asks again.
        "fetch.wait.max.ms": 2000,
    }


def admin(config: Config) -> AdminClient:
    """An administrator's client."""
    return AdminClient(client_settings(config, Party.ADMIN))


def spark_options(config: Config, party: Party) -> dict[str, str]:
    """The options of Spark's Kafka source and sink."""
    return {
        "kafka.bootstrap.servers": bootstrap_servers(config),
        "kafka.security.protocol": "SSL",
        "kafka.ssl.keystore.type": "PEM",
        "kafka.ssl.keystore.location": str(java_file_of(config, party)),
        "kafka.ssl.truststore.type": "PEM",
        "kafka.ssl.truststore.location": str(identity_of(config, party).ca_file),
        "kafka.ssl.enabled.protocols": "TLSv1.3",
        "kafka.ssl.protocol": "TLSv1.3",
        "kafka.max.request.size": str(MAX_RECORD_BYTES),
    }


def end_offsets(consumer: Consumer, topic: str) -> dict[int, int]:
    """The offset after the last record of every partition of a topic."""
    description = consumer.list_topics(topic, timeout=REQUEST_TIMEOUT_S).topics[topic]
    if description.error:
        raise KafkaException(description.error)
    places = (TopicPartition(topic, partition) for partition in description.partitions)
    return {place.partition: bounds(consumer, place)[1] for place in places}


def bounds(
    consumer: Consumer, place: TopicPartition, timeout_s: float = REQUEST_TIMEOUT_S
) -> tuple[int, int]:
    """The offsets of the first record of a partition and after its last.

    A broker that has just come back may still be looking for who leads: it is asked again.
    """
    deadline_s = time.monotonic() + timeout_s
    while True:
        try:
            offsets = consumer.get_watermark_offsets(place, timeout=timeout_s)
        except KafkaException as error:
            if error.args[0].code() not in _LEADER_IS_SOUGHT or time.monotonic() > deadline_s:
                raise
            time.sleep(_ASKED_AGAIN_S)
            continue
        if offsets is None:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return offsets


def oldest_ms(config: Config, party: Party, topics: Iterable[str]) -> int | None:
    """The time of the oldest record on any of the topics, in ms since 1970; none if they are empty."""
    # Short waits: a broker answers nothing else on a connection while a fetch is waiting for records.
    source = consumer(config, party, enable_partition_eof=True, fetch_wait_max_ms=10)
    try:
        firsts = [
            message.timestamp()[1]
            for topic in topics
            for partition, end in end_offsets(source, topic).items()
            if end > 0
            for message in _first_of(source, TopicPartition(topic, partition, OFFSET_BEGINNING))
        ]
    except KafkaException as error:
        raise explain(f"Reading {', '.join(topics)}", error) from None
    finally:
        source.close()
    return min(firsts, default=None)


def _first_of(source: Consumer, place: TopicPartition) -> Iterator[Message]:
    source.assign([place])
    message = source.poll(REQUEST_TIMEOUT_S)
    if message is not None and message.error() is None:
        yield message


def read_all(
    config: Config, party: Party, topic: str, timeout_s: float = 30.0, *, newest: int | None = None
) -> Iterator[Message]:
    """Every record that is on a topic now, in the order of each partition; fails if none comes in time.

    With `newest` only so many of each partition, fewer if some of them are no records.
    """
    source = consumer(config, party, enable_partition_eof=True)
    try:
        yield from _read_all(source, topic, timeout_s, newest)
    except KafkaException as error:
        raise explain(f"Reading {topic}", error) from None
    finally:
        source.close()


def _read_all(source: Consumer, topic: str, timeout_s: float, newest: int | None) -> Iterator[Message]:
    ends = {partition: end for partition, end in end_offsets(source, topic).items() if end > 0}
    begins = {
        partition: OFFSET_BEGINNING if newest is None else max(0, end - newest)
        for partition, end in ends.items()
    }
    source.assign([TopicPartition(topic, partition, begin) for partition, begin in begins.items()])
    while ends:
        first = source.poll(timeout_s)
        if first is None:
            raise BrokerUnavailable(
                f"Nothing came from {topic} for {timeout_s:g} s", "See that the broker runs."
            )
        # `consume` with a time-out would wait for a full batch.
        for message in (first, *source.consume(_BATCH_RECORDS, 0)):
            yield from _take(message, ends)


def _take(message: Message, ends: dict[int, int]) -> Iterator[Message]:
    """Passes on a record that is wanted, and strikes out partitions that are read to their end."""
    partition, offset, error = message.partition(), message.offset(), message.error()
    if error and error.code() != KafkaError._PARTITION_EOF:
        raise KafkaException(error)
    assert partition is not None
    assert offset is not None
    end = ends.get(partition, 0)
    if not error and offset < end:
        yield message
    if error or offset >= end - 1:
        ends.pop(partition, None)


def _dotted(settings: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("_", "."): value for name, value in settings.items()}
