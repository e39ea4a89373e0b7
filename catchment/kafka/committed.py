"""All that is on a topic which is written in transactions, also behind one that is not over yet.

A reader of what is committed comes to the end of a topic where the first open transaction begins. Who was
killed in the middle of one leaves it open until its time is up, and hides what others have committed
behind it. Whoever goes on from such a topic must not take that for all there is.
"""

import time
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from catchment.config import Config
from catchment.errors import BrokerUnavailable
from catchment.kafka.clients import REQUEST_TIMEOUT_S, client_settings, consumer
from catchment.kafka.failures import explain, outcome
from catchment.kafka.parties import Party
from catchment.records import Kind

_LATEST = OffsetSpec.latest()  # type: ignore[no-untyped-call]
_BATCH_RECORDS = 10_000
_POLL_S = 0.5


def read_committed(config: Config, party: Party, kind: Kind, transaction_timeout_s: float) -> list[Message]:
    """Every record of a topic with one partition; waits for open transactions, at most for their time."""
    place = TopicPartition(kind.topic, 0)
    # Asked by an administrator's client, which also counts what is not committed yet.
    client = AdminClient(client_settings(config, party))
    answer = client.list_offsets({place: _LATEST}, request_timeout=REQUEST_TIMEOUT_S)
    end: int = outcome(f"Reading {kind.topic}", answer[place]).offset
    # Short waits, because the end is told only when a fetch has come back with nothing.
    reader = consumer(config, party, enable_partition_eof=True, fetch_wait_max_ms=50)
    try:
        reader.assign([TopicPartition(kind.topic, 0, 0)])
        return _read_up_to(reader, kind.topic, end, transaction_timeout_s + REQUEST_TIMEOUT_S)
    finally:
        reader.close()


def _read_up_to(reader: Consumer, topic: str, end: int, patience_s: float) -> list[Message]:
    rows: list[Message] = []
    reached = 0
    deadline_s = time.monotonic() + patience_s
    while reached < end:
        first = reader.poll(_POLL_S)
        batch: list[Any] = [first, *reader.consume(_BATCH_RECORDS, 0)] if first else []
        for message in batch:
            error = message.error()
            if error and error.code() != KafkaError._PARTITION_EOF:
                raise explain(f"Reading {topic}", error)
            reached = message.offset() + (0 if error else 1)
            rows += [] if error else [message]
        if time.monotonic() > deadline_s:
            raise BrokerUnavailable(
                f"{topic} could be read up to {reached} of {end} only", "It is tried again."
            )
    return rows
