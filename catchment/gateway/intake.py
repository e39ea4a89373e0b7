"""Where messages become records: every listener hands over here, and here they get their numbers."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from catchment.records import FIRST_SEQUENCE, Source, encode_stamp


@dataclass(frozen=True, slots=True)
class Batch:
    """Records of one source with consecutive numbers, stamped."""

    source: Source
    first_sequence: int
    payloads: Sequence[bytes]
    stamps: Sequence[bytes]

    @property
    def last_sequence(self) -> int:
        return self.first_sequence + len(self.payloads) - 1

    @property
    def payload_bytes(self) -> int:
        return sum(map(len, self.payloads))


class Intake:
    """Numbers the messages of every stream: 1, 2, 3 … within one epoch of one gateway."""

    def __init__(self, site: str, gateway: str, epoch: int) -> None:
        self._site = site
        self._gateway = gateway
        self._epoch = epoch
        self._sources: dict[str, Source] = {}
        self._next_sequence: dict[str, int] = {}

    def stamp(self, stream: str, payloads: Sequence[bytes], origin_us: int | None = None) -> Batch:
        """Gives each message the next number of its stream and the time at which it came."""
        source = self._sources.get(stream) or self._open(stream)
        first = self._next_sequence[stream]
        self._next_sequence[stream] = first + len(payloads)
        came_at_us = time.time_ns() // 1000 if origin_us is None else origin_us
        identity = source.identity
        numbers = range(first, first + len(payloads))
        return Batch(
            source, first, payloads, [encode_stamp(identity, number, came_at_us) for number in numbers]
        )

    def _open(self, stream: str) -> Source:
        source = Source(self._site, self._gateway, self._epoch, stream)
        self._sources[stream] = source
        self._next_sequence[stream] = FIRST_SEQUENCE
        return source
