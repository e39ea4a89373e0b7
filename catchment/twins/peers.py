"""Asking another instance of the view, over connections that are kept."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import orjson

from catchment import errors
from catchment.errors import CatchmentError
from catchment.metrics import counter, histogram
from catchment.security.authority import Identity
from catchment.twins.frames import FrameKind, client_context, decompressed, frame, is_api, read_frame
from catchment.twins.members import Presence

CONNECT_TIMEOUT_S = 2.0
IDLE_KEPT = 4

_REQUESTS = counter("catchment_api_twins_peer_requests_total")
_SECONDS = histogram("catchment_api_twins_peer_seconds")


class PeerLost(Exception):
    """The other instance does not answer."""


class _Connection:
    """One connection with requests under way."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._task: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        return not self.writer.is_closing() and not self.reader.at_eof()

    async def ask(self, kind: FrameKind, content: bytes) -> bytes:
        """The whole answer; many may be asked at the same time."""
        if self._task is None:
            self._task = asyncio.create_task(self._receive())
        number = next(self._numbers) & 0xFFFFFFFF
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self.writer.writelines(frame(number, kind, content))
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def _receive(self) -> None:
        try:
            while True:
                number, kind, content = await read_frame(self.reader)
                answer = self._waiting.get(number)
                if answer is None or answer.done():
                    continue
                if kind is FrameKind.ERROR:
                    answer.set_exception(_refusal(content))
                else:
                    answer.set_result(content)
        except (OSError, EOFError, ValueError) as error:
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(PeerLost(str(error)))
        finally:
            self.writer.close()

    def close(self) -> None:
        if self._task:
            self._task.cancel()
        self.writer.close()


class Peer:
    """Another instance: one connection for many small requests, and a few for long answers."""

    def __init__(self, host: str, port: int, identity: Identity, timeout_s: float) -> None:
        self._host = host
        self._port = port
        self._context = client_context(identity)
        self._timeout_s = timeout_s
        self._shared: _Connection | None = None
        self._connecting = asyncio.Lock()
        self._idle: list[_Connection] = []

    async def ask(self, kind: FrameKind, content: bytes) -> bytes:
        """One answer, or PeerLost."""
        began_s = time.perf_counter()
        try:
            async with asyncio.timeout(self._timeout_s):
                connection = await self._shared_connection()
                answer = await connection.ask(kind, content)
        except (OSError, PeerLost) as error:
            _REQUESTS.labels(kind.name.lower(), "lost").inc()
            raise PeerLost(str(error)) from None
        _SECONDS.labels(kind.name.lower()).observe(time.perf_counter() - began_s)
        _REQUESTS.labels(kind.name.lower(), "answered").inc()
        return answer

    async def stream(self, kind: FrameKind, content: bytes) -> AsyncIterator[tuple[FrameKind, bytes]]:
        """An answer in parts, over a connection of its own: whoever reads slowly holds up nobody else."""
        connection = None
        try:
            async with asyncio.timeout(self._timeout_s):
                connection = await self._own_connection()
                connection.writer.writelines(frame(1, kind, content))
                _, part, content = await read_frame(connection.reader)
            while part is FrameKind.PART:
                yield part, decompressed(content)
                async with asyncio.timeout(self._timeout_s):
                    _, part, content = await read_frame(connection.reader)
        except (OSError, EOFError, ValueError) as error:
            _REQUESTS.labels(kind.name.lower(), "lost").inc()
            raise PeerLost(str(error)) from None
        else:
            if len(self._idle) < IDLE_KEPT:
                self._idle.append(connection)
                connection = None
            _REQUESTS.labels(kind.name.lower(), "answered").inc()
            if part is FrameKind.ERROR:
                raise _refusal(content)
            yield part, content
        finally:
            # Whoever stopped reading in the middle leaves a connection that nobody else can use.
            if connection:
                connection.close()

    def close(self) -> None:
        for connection in [*self._idle, *([self._shared] if self._shared else [])]:
            connection.close()

    async def _shared_connection(self) -> _Connection:
        async with self._connecting:
            if self._shared is None or not self._shared.is_open:
                self._shared = await self._connect()
            return self._shared

    async def _own_connection(self) -> _Connection:
        while self._idle:
            if (idle := self._idle.pop()).is_open:
                return idle
            idle.close()
        return await self._connect()

    async def _connect(self) -> _Connection:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            reader, writer = await asyncio.open_connection(
                self._host, self._port, ssl=self._context, limit=1 << 20
            )
        if not is_api(writer):
            writer.close()
            raise PeerLost("it is none of ours")
        return _Connection(reader, writer)


class Peers:
    """Every other instance, by where it is."""

    def __init__(self, identity: Callable[[], Identity], timeout_s: float) -> None:
        self._identity = identity
        self._timeout_s = timeout_s
        self._peers: dict[tuple[str, int], Peer] = {}

    def at(self, presence: Presence) -> Peer:
        place = presence.host, presence.port
        if place not in self._peers:
            self._peers[place] = Peer(*place, self._identity(), self._timeout_s)
        return self._peers[place]

    def keep_only(self, present: list[Presence]) -> None:
        """Lets go of those that are gone."""
        places = {(each.host, each.port) for each in present}
        for place in self._peers.keys() - places:
            self._peers.pop(place).close()

    def close(self) -> None:
        self.keep_only([])


def _refusal(content: bytes) -> Exception:
    """The error that the other instance met."""
    with suppress(ValueError, KeyError, TypeError):
        said: dict[str, Any] = orjson.loads(content)
        kind = getattr(errors, said["kind"], CatchmentError)
        if issubclass(kind, CatchmentError) and kind.__init__ is CatchmentError.__init__:
            refusal: CatchmentError = kind(said["happened"], said["remedy"])
            return refusal
    return PeerLost("it failed")
