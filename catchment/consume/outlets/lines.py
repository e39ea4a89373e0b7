"""How records are written as lines."""

import base64
from collections.abc import Callable
from typing import Any

import orjson
from confluent_kafka import Message

from catchment.consume.source import stamp_of
from catchment.records import Stamp

ToLine = Callable[[Message], bytes]


def raw_line(message: Message) -> bytes:
    """The payload as it is, and a newline."""
    return (message.value() or b"") + b"\n"


def json_line(message: Message) -> bytes:
    """The record with its stamp and its place in Kafka, as one JSON object."""
    return orjson.dumps(as_mapping(message), option=orjson.OPT_APPEND_NEWLINE)


def as_mapping(message: Message) -> dict[str, Any]:
    """A record as JSON says it; bytes that are not text are in `value_base64` instead of `value`."""
    key = message.key()
    stamp = stamp_of(message)
    return {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp_ms": message.timestamp()[1],
        "key": key.decode(errors="replace") if isinstance(key, bytes) else key,
        "stamp": _stamp_as_mapping(stamp) if stamp else None,
        **_value_as_mapping(message.value() or b""),
    }


def _stamp_as_mapping(stamp: Stamp) -> dict[str, Any]:
    source = stamp.source
    return {
        "site": source.site,
        "gateway": source.gateway,
        # Epochs are beyond what some readers of JSON can hold as a number.
        "epoch": str(source.epoch),
        "stream": source.stream,
        "sequence": stamp.sequence,
        "origin_us": stamp.origin_us,
    }


def _value_as_mapping(value: bytes) -> dict[str, str]:
    try:
        return {"value": value.decode()}
    except UnicodeDecodeError:
        return {"value_base64": base64.b64encode(value).decode()}
