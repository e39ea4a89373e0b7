"""What a dead letter is, and the note that it was sent again."""

import base64
import hashlib
from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from confluent_kafka import Message
from pydantic import BaseModel, Field

from catchment.errors import InvalidRecord, InvalidRequest
from catchment.records import REASON_HEADER, STAMP_HEADER, TOPIC_HEADER, Stamp

# Headers that are about the dead letter and not about the record that it holds.
OWN_HEADERS = (REASON_HEADER, TOPIC_HEADER)
Headers = list[tuple[str, str | bytes | None]]


class Progress(StrEnum):
    """How far sending again has come; `sending` stays only when the service ended in between."""

    SENDING = "sending"
    SENT = "sent"


class Replay(BaseModel, frozen=True):
    """That a dead letter was sent again: an entry of its topic, keyed by the letter's digest."""

    digest: str
    progress: Progress
    topic: str
    at_ms: int
    by: str = Field(description="The name of the token with which it was asked for.")


class Place(BaseModel, frozen=True):
    """Where on its topic a dead letter stands."""

    partition: int
    offset: int

    @property
    def id(self) -> str:
        return f"{self.partition}-{self.offset}"

    @classmethod
    def parse(cls, text: str) -> Self:
        partition, _, offset = text.partition("-")
        if not (partition.isascii() and partition.isdecimal() and offset.isascii() and offset.isdecimal()):
            raise InvalidRequest(
                f"{text!r} is not the id of a dead letter", "Take one from the list, as 0-17."
            )
        return cls(partition=int(partition), offset=int(offset))


class Letter(BaseModel, frozen=True):
    """A dead letter without its bytes."""

    id: str = Field(description="Partition and offset on this node.")
    at_ms: int = Field(description="When it was written, in ms since 1970.")
    reason: str
    topic: str | None = Field(description="Where the record came from; null if it never was on a topic.")
    key: str | None
    site: str | None = Field(description="From the record's stamp, as stream and number are.")
    stream: str | None
    number: int | None
    size_bytes: int
    replay: Replay | None = Field(None, description="That and when it was sent again.")


class Header(BaseModel, frozen=True):
    """A header of the record, as Base64."""

    name: str
    value_base64: str


class WholeLetter(Letter, frozen=True):
    """A dead letter with its bytes."""

    value_base64: str
    text: str | None = Field(description="The same as text, if it is UTF-8.")
    headers: list[Header]


def digest_of(message: Message) -> str:
    """The same for the same record and reason, here and at the centre, however often it was written."""
    digest = hashlib.sha256()
    for part in (message.key(), message.value(), *_flat(headers_of(message))):
        data = part.encode() if isinstance(part, str) else part or b""
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:32]


def letter_of(message: Message) -> Letter:
    headers = dict(headers_of(message))
    stamp = _stamp(headers.get(STAMP_HEADER))
    return Letter(
        id=Place(partition=message.partition() or 0, offset=message.offset() or 0).id,
        at_ms=message.timestamp()[1],
        reason=_text(headers.get(REASON_HEADER)) or "unknown",
        topic=_text(headers.get(TOPIC_HEADER)),
        key=_text(message.key()),
        site=stamp.source.site if stamp else None,
        stream=stamp.source.stream if stamp else None,
        number=stamp.sequence if stamp else None,
        size_bytes=len(message.value() or b""),
    )


def whole_letter_of(message: Message) -> WholeLetter:
    value = message.value() or b""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        text = None
    headers = [Header(name=name, value_base64=_base64(data)) for name, data in headers_of(message)]
    return WholeLetter(
        **letter_of(message).model_dump(), value_base64=_base64(value), text=text, headers=headers
    )


def original_headers(message: Message) -> Headers:
    """The headers of the record itself."""
    return [(name, value) for name, value in headers_of(message) if name not in OWN_HEADERS]


def headers_of(message: Message) -> Headers:
    headers = message.headers() or []
    return list(headers.items()) if isinstance(headers, dict) else list(headers)


def _flat(headers: Headers) -> Iterable[str | bytes | None]:
    return (part for header in headers for part in header)


def _stamp(header: str | bytes | None) -> Stamp | None:
    try:
        return Stamp.decode(header) if isinstance(header, bytes) else None
    except InvalidRecord:
        return None


def _text(data: str | bytes | None) -> str | None:
    return data.decode(errors="replace") if isinstance(data, bytes) else data


def _base64(data: str | bytes | None) -> str:
    return base64.b64encode(data.encode() if isinstance(data, str) else data or b"").decode()
