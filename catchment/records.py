"""The vocabulary that every part shares: records, their stamps, and the names of topics.

A stamp is one binary header. The fixed part comes first and the identity of the source last, as text, so
that whoever groups by source takes a single slice:

    version u8 | sequence u64 | origin_us i64 | site/gateway/epoch/stream
"""

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Self

from catchment.errors import InvalidRecord

STAMP_HEADER = "catchment-stamp"
ORIGIN_HEADER = "catchment-origin-us"
REASON_HEADER = "catchment-reason"
TOPIC_HEADER = "catchment-topic"
VERSION_HEADER = "catchment-version"
TABLE_HEADER = "catchment-table"
STAMP_VERSION = 1

_FIXED = struct.Struct(">BQq")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_STREAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}")
_EPOCH = re.compile(r"0|[1-9][0-9]{0,18}")
IDENTITY = re.compile(f"({_NAME.pattern})/({_NAME.pattern})/({_EPOCH.pattern})/({_STREAM.pattern})")

IDENTITY_OFFSET = _FIXED.size
FIRST_SEQUENCE = 1
LAST_SEQUENCE = 2**63 - 1


class Kind(StrEnum):
    """What a topic holds; the last part of its name."""

    RECORDS = "records"
    MARKS = "marks"
    LEDGER = "ledger"
    HOPS = "hops"
    DEADLETTER = "deadletter"
    RELAYED = "relayed"
    DEVICES = "device-registration"
    SENSORS = "sensor-registration"
    SENSOR_TYPES = "sensor-type-registration"
    SEEN_SENSORS = "sensor-seen"
    SCHEMAS = "schemas"
    MAPPINGS = "mappings"
    MEASUREMENTS = "measurements"
    RULES = "rules"
    EVENTS = "events"
    ALERTS = "alerts"
    DELIVERIES = "deliveries"
    NOTIFIED = "notified"
    REPLAYS = "deadletter-replays"
    TWIN_TYPES = "twin-types"
    TWIN_FEEDS = "twin-feeds"
    TWIN_MESSAGES = "twin-messages"
    TWIN_CHANGES = "twin-changes"
    TWINS = "twins"
    TWIN_HISTORY = "twin-history"
    TWIN_OUTCOMES = "twin-outcomes"
    TWIN_VIEWS = "twin-views"
    AUDIT = "audit"
    ACKNOWLEDGEMENTS = "alert-acknowledgements"
    GAPS = "gaps"
    QUERIES = "queries"
    RESULTS = "results"
    TICKS = "ticks"

    @property
    def topic(self) -> str:
        return f"catchment.v1.{self.value}"


@dataclass(frozen=True)
class Source:
    """Where a numbered sequence of records comes from: one stream, through one spool of one gateway."""

    site: str
    gateway: str
    epoch: int
    stream: str

    def __post_init__(self) -> None:
        check_name("site", self.site)
        check_name("gateway", self.gateway)
        check_stream(self.stream)
        if not _EPOCH.fullmatch(str(self.epoch)):
            raise InvalidRecord(f"{self.epoch} is not an epoch", "Use a number from 0 to 10^19 - 1.")

    @cached_property
    def identity(self) -> bytes:
        """The source as text: what the stamps of all its records end with."""
        return f"{self.site}/{self.gateway}/{self.epoch}/{self.stream}".encode()

    @cached_property
    def key(self) -> bytes:
        """The Kafka key. The epoch is left out: order per stream outlives a gateway's spool."""
        return f"{self.site}/{self.stream}".encode()

    @classmethod
    def from_identity(cls, identity: bytes) -> Self:
        match = IDENTITY.fullmatch(identity.decode(errors="replace"))
        if match is None:
            raise InvalidRecord(f"The identity {identity!r} cannot be read", _ADVICE)
        return cls(match[1], match[2], int(match[3]), match[4])


@dataclass(frozen=True)
class Stamp:
    """What loss, order and duplicates are proved with: the source, a number in it, the time of origin."""

    source: Source
    sequence: int
    origin_us: int

    def encode(self) -> bytes:
        return encode_stamp(self.source.identity, self.sequence, self.origin_us)

    @classmethod
    def decode(cls, header: bytes) -> Self:
        if len(header) <= IDENTITY_OFFSET or header[0] != STAMP_VERSION:
            raise InvalidRecord(f"The stamp {header.hex() or '(empty)'} is not of version 1", _ADVICE)
        _, sequence, origin_us = _FIXED.unpack_from(header)
        if not FIRST_SEQUENCE <= sequence <= LAST_SEQUENCE:
            raise InvalidRecord(f"{sequence} is not a sequence number", _ADVICE)
        return cls(Source.from_identity(header[IDENTITY_OFFSET:]), sequence, origin_us)


def encode_stamp(identity: bytes, sequence: int, origin_us: int) -> bytes:
    """A stamp's bytes."""
    return _FIXED.pack(STAMP_VERSION, sequence, origin_us) + identity


def encode_stamps(identity: bytes, sequences: Iterable[int], origin_us: int) -> list[bytes]:
    """The same for many at once, because gateways do it for every message."""
    pack = _FIXED.pack
    return [pack(STAMP_VERSION, sequence, origin_us) + identity for sequence in sequences]


def check_name(what: str, name: str) -> None:
    """Refuses a name that could not stand in topics, paths and certificates as it is."""
    if not _NAME.fullmatch(name):
        raise InvalidRecord(
            f"{name!r} is not a {what} name",
            "Use 1 to 64 letters, digits, dots, hyphens and underscores, with a letter or digit first.",
        )


def check_stream(name: str) -> None:
    """Refuses a stream name that could not stand in keys and addresses as it is."""
    if not _STREAM.fullmatch(name):
        raise InvalidRecord(
            f"{name!r} is not a stream name",
            "Use 1 to 200 letters, digits and . _ : / - with a letter or digit first.",
        )


_ADVICE = "Check that the sender writes stamps as docs/reference/records.md describes."
