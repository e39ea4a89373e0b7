"""Which partition a stream goes to: always the same one, so that its order is kept."""

import zlib
from collections.abc import Callable, Mapping

from catchment.config.forwarding import Hashing, Routing
from catchment.kafka.hashing import fnv1a, murmur2
from catchment.records import Source


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


HASHES: dict[Hashing, Callable[[bytes], int]] = {
    Hashing.CRC32: zlib.crc32,
    Hashing.FNV1A: fnv1a,
    Hashing.MURMUR2: murmur2,
}
