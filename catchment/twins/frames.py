"""What instances of the view say to each other: frames over one connection, many requests at a time.

    length u32 | request u32 | kind u8 | content

The length counts what follows it. A request has one kind; its answer is any number of `PART`s and one
`END`, or one `ERROR`, with the same request number. A `PART` is compressed: to pack many objects and unpack
them again takes less time than to encrypt them once more.
"""

import asyncio
import ssl
import struct
from enum import IntEnum
from typing import Any

import orjson
import pyarrow as pa

from catchment.security.authority import Identity

PARTY = "api"
_HEAD = struct.Struct(">IIB")
_LENGTH_BYTES = 4
_SIZE = struct.Struct(">I")
_CODEC = "lz4"
MOST_BYTES = 256 << 20


class FrameKind(IntEnum):
    """What a frame is."""

    GET = 1
    ASK = 2
    ALL = 3
    PART = 16
    END = 17
    ERROR = 18


Frame = tuple[int, FrameKind, bytes]


def frame(request: int, kind: FrameKind, *contents: bytes) -> list[bytes]:
    """A frame's bytes, in pieces that need not be joined."""
    size = sum(map(len, contents))
    return [_HEAD.pack(_HEAD.size - _LENGTH_BYTES + size, request, kind), *contents]


async def read_frame(reader: asyncio.StreamReader) -> Frame:
    """The next frame; raises when the other side is gone or talks nonsense."""
    length, request, kind = _HEAD.unpack(await reader.readexactly(_HEAD.size))
    size = length - (_HEAD.size - _LENGTH_BYTES)
    if not 0 <= size <= MOST_BYTES:
        raise ConnectionError(f"a frame of {length} bytes")
    return request, FrameKind(kind), await reader.readexactly(size)


def compressed(content: bytes) -> list[bytes]:
    """What a `PART` has in it: the size of the content, and the content in fewer bytes."""
    return [_SIZE.pack(len(content)), pa.compress(content, codec=_CODEC, asbytes=True)]


def decompressed(content: bytes) -> bytes:
    """The same the other way round."""
    (size,) = _SIZE.unpack_from(content)
    if size > MOST_BYTES:
        raise ConnectionError(f"a part of {size} bytes")
    whole: bytes = pa.decompress(memoryview(content)[_SIZE.size :], size, codec=_CODEC, asbytes=True)
    return whole


def with_head(head: Any, *rest: bytes) -> list[bytes]:
    """JSON on a line of its own, and what follows it as it is."""
    return [orjson.dumps(head), b"\n", *rest]


def parted(content: bytes) -> tuple[Any, bytes]:
    """The same the other way round."""
    head, _, rest = content.partition(b"\n")
    return orjson.loads(head), rest


def server_context(identity: Identity) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    return _both_known(context, identity)


def client_context(identity: Identity) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return _both_known(context, identity)


def _both_known(context: ssl.SSLContext, identity: Identity) -> ssl.SSLContext:
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(identity.ca_file)
    context.load_cert_chain(identity.certificate_file, identity.key_file)
    return context


def is_api(writer: asyncio.StreamWriter) -> bool:
    """Whether the other side is an instance of ours: the authority knows providers and others as well."""
    certificate = writer.get_extra_info("peercert") or {}
    names = [value for part in certificate.get("subject", ()) for name, value in part if name == "commonName"]
    return names == [PARTY]
