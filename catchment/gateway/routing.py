"""Which partition a stream goes to: always the same one, so that its order is kept.

The hashes are those of librdkafka's partitioners `consistent`, `fnv1a` and `murmur2` (the last is also that
of Java clients), so that whoever writes with the same key and partitioner meets the same partition.
"""

import zlib
from collections.abc import Callable, Mapping

from catchment.config.forwarding import Hashing, Routing
from catchment.records import Source

_32_BITS = 0xFFFFFFFF
_31_BITS = 0x7FFFFFFF


class Router:
    """Knows the partition of every source.

    Round robin deals out the partitions to the streams in the order in which they first came, which is that
    of the spool's numbering: it is the same after a restart.
    """

    def __init__(self, routing: Routing, hashing: Hashing, epoch: int, streams: Mapping[str, int]) -> None:
        self._routing = routing
        self._hash = HASHES[hashing]
        self._epoch = epoch
        self._streams = streams
        self._turns: dict[str, int] = {}
        self._known: dict[Source, int] = {}
        self._partitions = 1

    def begin(self, partitions: int) -> None:
        """Spreads over so many partitions from now on."""
        self._partitions = partitions
        self._known.clear()

    def partition_of(self, source: Source) -> int:
        known = self._known.get(source)
        if known is None:
            known = self._known[source] = self._number_of(source) % self._partitions
        return known

    def _number_of(self, source: Source) -> int:
        # What an earlier epoch left behind has no turn in this one.
        if self._routing is Routing.KEY or source.epoch != self._epoch:
            return self._hash(source.key)
        for stream in list(self._streams):
            self._turns.setdefault(stream, len(self._turns))
        return self._turns[source.stream]


def fnv1a(key: bytes) -> int:
    """FNV-1a of 32 bits; like librdkafka's, negative results count without their sign."""
    value = 0x811C9DC5
    for byte in key:
        value = ((value ^ byte) * 0x01000193) & _32_BITS
    return min(value, (1 << 32) - value)


def murmur2(key: bytes) -> int:
    """MurmurHash2 of 32 bits with the seed that Kafka's own clients use, without the sign."""
    factor = 0x5BD1E995
    whole = len(key) & ~3
    value = (0x9747B28C ^ len(key)) & _32_BITS
    for place in range(0, whole, 4):
        word = int.from_bytes(key[place : place + 4], "little") * factor & _32_BITS
        word = (word ^ word >> 24) * factor & _32_BITS
        value = (value * factor & _32_BITS) ^ word
    if rest := key[whole:]:
        value = (value ^ int.from_bytes(rest, "little")) * factor & _32_BITS
    value = (value ^ value >> 13) * factor & _32_BITS
    return (value ^ value >> 15) & _31_BITS


HASHES: dict[Hashing, Callable[[bytes], int]] = {
    Hashing.CRC32: zlib.crc32,
    Hashing.FNV1A: fnv1a,
    Hashing.MURMUR2: murmur2,
}
