"""Answers the other instances of the view from the partitions that this one has."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Protocol

import orjson

from catchment.config import Config
from catchment.errors import CatchmentError, MachineError
from catchment.security.authority import Identity
from catchment.twins.frames import FrameKind, frame, is_api, read_frame, server_context, with_head
from catchment.twins.search.question import Found, Question
from catchment.twins.shard import Entry

log = logging.getLogger(__name__)
_MOST_AT_ONCE = 64


class Holder(Protocol):
    """What this instance has, in partitions of its own."""

    def get_here(self, key: str) -> Entry | None: ...

    async def ask_here(
        self, partitions: list[int], question: Question, party: str
    ) -> tuple[list[Found], list[int]]: ...

    def packed_here(
        self, partitions: list[int], question: Question, party: str, missing: set[int]
    ) -> AsyncIterator[list[bytes]]: ...


class PeerServer:
    """Listens for the other instances: certificates of ours alone."""

    def __init__(self, config: Config, identity: Identity, holder: Holder) -> None:
        self._socket = _listen(config)
        self.port: int = self._socket.getsockname()[1]
        self._identity = identity
        self._holder = holder
        self._server: asyncio.Server | None = None
        self._connected: set[asyncio.StreamWriter] = set()

    async def open(self) -> None:
        self._server = await asyncio.start_server(
            self._serve, sock=self._socket, ssl=server_context(self._identity)
        )

    async def close(self) -> None:
        if self._server:
            self._server.close()
        for writer in list(self._connected):
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        under_way: set[asyncio.Task[None]] = set()
        self._connected.add(writer)
        try:
            while is_api(writer):
                number, kind, content = await read_frame(reader)
                task = asyncio.create_task(self._answer(writer, number, kind, content))
                under_way.add(task)
                task.add_done_callback(under_way.discard)
                if len(under_way) >= _MOST_AT_ONCE:
                    await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
        except (OSError, EOFError, ValueError):
            pass
        finally:
            self._connected.discard(writer)
            for task in under_way:
                task.cancel()
            writer.close()

    async def _answer(
        self, writer: asyncio.StreamWriter, number: int, kind: FrameKind, content: bytes
    ) -> None:
        with suppress(OSError):
            try:
                await self._reply(writer, number, kind, content)
            except CatchmentError as error:
                said = {"kind": type(error).__name__, "happened": error.happened, "remedy": error.remedy}
                writer.writelines(frame(number, FrameKind.ERROR, orjson.dumps(said)))
            except Exception:
                log.exception("a question of another instance failed")
                writer.writelines(frame(number, FrameKind.ERROR, b"{}"))
            await writer.drain()

    async def _reply(
        self, writer: asyncio.StreamWriter, number: int, kind: FrameKind, content: bytes
    ) -> None:
        if kind is FrameKind.GET:
            entry = self._holder.get_here(content.decode())
            answer = with_head([*entry[:3]], entry.body) if entry else []
            writer.writelines(frame(number, FrameKind.END, *answer))
            return
        asked: dict[str, Any] = orjson.loads(content)
        question, party, partitions = Question.decode(asked["question"]), asked["party"], asked["partitions"]
        if kind is FrameKind.ASK:
            found, missing = await self._holder.ask_here(partitions, question, party)
            head = {"missing": missing, "places": [place for place, _ in found]}
            answer = with_head(head, b"\n".join(body for _, body in found))
            writer.writelines(frame(number, FrameKind.END, *answer))
            return
        absent: set[int] = set()
        async for part in self._holder.packed_here(partitions, question, party, absent):
            writer.writelines(frame(number, FrameKind.PART, *part))
            await writer.drain()
        writer.writelines(frame(number, FrameKind.END, orjson.dumps(sorted(absent))))


def _listen(config: Config) -> socket.socket:
    host, port = config.twin_view.host, config.twin_view.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise MachineError(
            f"The view of twins cannot listen on {host}:{port} ({error.strerror})",
            "Stop what listens there, or set twin_view.host and twin_view.port to others.",
        ) from None
