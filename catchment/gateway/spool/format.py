"""How a batch stands in the spool; docs/reference/spool.md describes the same for people.

    magic "CSB1" | body bytes u32 | CRC-32 of the body u32 | body

and the body, all numbers big-endian:

    epoch u64 | first sequence u64 | origin_us i64 | provider's number u64
    stream bytes u16 | key bytes u16 | reason bytes u16 | count u32
    stream | idempotency key | reason | count times: payload bytes u32 | the payloads

A batch with a reason is for the dead letters and has no sequence numbers.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAGIC = b"CSB1"
FRAME = struct.Struct(">4sII")
BODY = struct.Struct(">QQqQHHHI")


class BadFrameError(Exception):
    """The bytes at a place of a segment are not a whole, sound batch."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Messages of one stream with consecutive sequence numbers, as they were accepted together.

    `number` is the last of the provider's own numbers (0: it gives none), `key` the idempotency key, and
    `reason` why the messages are dead letters (empty: they are records).
    """

    stream: str
    epoch: int
    first_sequence: int
    origin_us: int
    payloads: Sequence[bytes]
    number: int = 0
    key: str = ""
    reason: str = ""

    @property
    def payload_bytes(self) -> int:
        return sum(map(len, self.payloads))

    @property
    def last_sequence(self) -> int:
        return self.first_sequence + len(self.payloads) - 1


class Placed(NamedTuple):
    """A batch, and from which position to which it stands in the spool."""

    start: int
    end: int
    batch: Batch


def encode(batch: Batch) -> bytes:
    """A batch with its frame."""
    stream, key, reason = batch.stream.encode(), batch.key.encode(), batch.reason.encode()
    count = len(batch.payloads)
    body = b"".join(
        (
            BODY.pack(
                batch.epoch,
                batch.first_sequence,
                batch.origin_us,
                batch.number,
                len(stream),
                len(key),
                len(reason),
                count,
            ),
            stream,
            key,
            reason,
            struct.pack(f">{count}I", *map(len, batch.payloads)),
            *batch.payloads,
        )
    )
    return FRAME.pack(MAGIC, len(body), zlib.crc32(body)) + body


def decode(data: bytes | memoryview, offset: int = 0) -> tuple[Batch, int]:
    """The batch at a place, and the place after it."""
    view = memoryview(data)
    start = offset + FRAME.size
    if len(view) < start:
        raise BadFrameError("the frame is cut short")
    magic, length, checksum = FRAME.unpack_from(view, offset)
    body = view[start : start + length]
    if magic != MAGIC:
        raise BadFrameError("there is no batch here")
    if len(body) < length:
        raise BadFrameError("the batch is cut short")
    if zlib.crc32(body) != checksum:
        raise BadFrameError("the checksum is wrong")
    return _decode_body(body), start + length


def _decode_body(body: memoryview) -> Batch:
    epoch, first_sequence, origin_us, number, *text_bytes, count = BODY.unpack_from(body)
    place = BODY.size
    texts = []
    for length in text_bytes:
        texts.append(str(body[place : place + length], "utf-8"))
        place += length
    lengths = struct.unpack_from(f">{count}I", body, place)
    place += 4 * count
    payloads = []
    for length in lengths:
        payloads.append(bytes(body[place : place + length]))
        place += length
    stream, key, reason = texts
    return Batch(stream, epoch, first_sequence, origin_us, payloads, number, key, reason)
