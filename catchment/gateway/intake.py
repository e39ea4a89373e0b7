"""Where messages become records: every listener hands over here, and here they get their numbers."""

import asyncio
import time
from collections.abc import Sequence

from catchment.config.models import WhenFull
from catchment.errors import SpoolFull
from catchment.gateway.spool import Batch, Spool
from catchment.gateway.spool.spool import WhenSafe
from catchment.records import FIRST_SEQUENCE, check_stream

ROOM_POLL_S = 0.05


class Intake:
    """Numbers the messages of every stream and puts them into the spool."""

    def __init__(self, spool: Spool, when_full: WhenFull) -> None:
        self._spool = spool
        self._when_full = when_full

    @property
    def has_room(self) -> bool:
        return self._spool.has_room

    def last_number(self, stream: str) -> int:
        """The highest of a provider's own numbers that was accepted on a stream; 0 if there is none."""
        return self._spool.numbers.get(stream, 0)

    def offer(
        self,
        stream: str,
        payloads: Sequence[bytes],
        *,
        origin_us: int | None = None,
        number: int = 0,
        key: str = "",
        when_safe: WhenSafe | None = None,
    ) -> int:
        """Takes messages, and says how many are new; `when_safe` is called when they are on the disk.

        `number` is the provider's own number of the last message: what it has sent before is left out.
        A repeated `key` leaves out all. The caller sees to `has_room`.
        """
        check_stream(stream)
        new = self._unseen(stream, payloads, number, key)
        if not new:
            # Repeated messages are safe when all that came before is: an empty batch waits its turn.
            self._spool.append(self._batch(stream, [], origin_us), when_safe)
            return 0
        batch = self._batch(stream, new, origin_us, number, key)
        self._spool.sequences[stream] = batch.last_sequence
        if number:
            self._spool.numbers[stream] = number
        if key:
            self._spool.keys[f"{stream} {key}"] = time.time()
        self._spool.append(batch, when_safe)
        return len(new)

    async def accept(
        self,
        stream: str,
        payloads: Sequence[bytes],
        *,
        origin_us: int | None = None,
        number: int = 0,
        key: str = "",
    ) -> int:
        """Takes messages and returns, when they are on the disk, how many of them are new."""
        await self.wait_for_room()
        safe = asyncio.Event()
        new = self.offer(stream, payloads, origin_us=origin_us, number=number, key=key, when_safe=safe.set)
        await safe.wait()
        return new

    async def wait_for_room(self) -> None:
        """Waits while the spool is full, or refuses: as the configuration says."""
        while not self.has_room:
            if self._when_full is WhenFull.REFUSE:
                raise SpoolFull("The spool is full", "Send again later, or raise gateway.spool.max_mib.")
            await asyncio.sleep(ROOM_POLL_S)

    def discard(self, payload: bytes, stream: str, reason: str, when_safe: WhenSafe | None = None) -> None:
        """Takes a message that cannot become a record, for the dead letters."""
        origin_us = time.time_ns() // 1000
        batch = Batch(stream, self._spool.epoch, 0, origin_us, [payload], reason=reason)
        self._spool.append(batch, when_safe)

    async def bury(self, payload: bytes, stream: str, reason: str) -> None:
        """The same, returning when it is on the disk."""
        await self.wait_for_room()
        safe = asyncio.Event()
        self.discard(payload, stream, reason, safe.set)
        await safe.wait()

    def _unseen(self, stream: str, payloads: Sequence[bytes], number: int, key: str) -> Sequence[bytes]:
        if key and f"{stream} {key}" in self._spool.keys:
            return []
        if not number:
            return payloads
        new = min(len(payloads), max(0, number - self.last_number(stream)))
        return payloads[len(payloads) - new :]

    def _batch(
        self, stream: str, payloads: Sequence[bytes], origin_us: int | None, number: int = 0, key: str = ""
    ) -> Batch:
        first = self._spool.sequences.get(stream, FIRST_SEQUENCE - 1) + 1
        came_at_us = time.time_ns() // 1000 if origin_us is None else origin_us
        return Batch(stream, self._spool.epoch, first, came_at_us, payloads, number, key)
