"""Numbered, seeded lines from one or many providers, at a given rate, through the gateway's TLS listener."""

import asyncio
import random
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from catchment.config import Config
from catchment.errors import NodeNotRunning
from catchment.security.authority import Authority, Identity
from catchment.security.providers import Providers

TICK_S = 0.005
LARGEST_WRITE_LINES = 2_000
POOL = 1_024
FIRST_PAUSE_S = 0.1
RECONNECT_MAX_S = 1.0
CONNECT_TIMEOUT_S = 5.0
# A connection that was cut without a word is given up when what was sent is not received for so long.
SILENCE_MAX_S = 8.0


@dataclass(frozen=True)
class Load:
    """What to send: `count` lines in all (0: without end), `rate` a second in all (0: as fast as it goes)."""

    providers: int
    count: int
    rate: float
    line_bytes: int
    seed: int
    name: str = "sim"

    def share(self, provider: int) -> int | None:
        """How many lines fall to a provider; none means without end."""
        if self.count == 0:
            return None
        return self.count // self.providers + (provider < self.count % self.providers)


class Lines(Protocol):
    """What a provider says: the same lines for the same numbers, so that they can be said again."""

    def lines(self, first: int, count: int) -> bytes:
        """Lines number `first` and following, each with its newline."""
        ...


class LineSource:
    """The lines of one provider: the same for the same seed, whenever and however they are sent."""

    def __init__(self, load: Load, provider: int) -> None:
        choice = random.Random(f"{load.seed}/{provider}")  # noqa: S311 - payloads, not secrets
        digits = max(0, load.line_bytes - len("000000000000 "))
        self._pool = [choice.randbytes(digits // 2 + 1).hex()[:digits].encode() for _ in range(POOL)]

    def lines(self, first: int, count: int) -> bytes:
        """Lines number `first` and following, each with its newline."""
        pool = self._pool
        return b"".join(
            b"%012d %b\n" % (number, pool[number % POOL]) for number in range(first, first + count)
        )


def register(config: Config, load: Load) -> list[Identity]:
    """Identities for the simulated providers, registered like any other."""
    authority = Authority(config.paths.identities, config.hostnames)
    providers = Providers(config.paths.providers)
    return [providers.add(f"{load.name}-{number}", authority) for number in range(1, load.providers + 1)]


async def send(config: Config, load: Load, stop: asyncio.Event, on_safe: Callable[[int], None]) -> None:
    """Sends the whole load; returns when the gateway has it all on disk, or soon after `stop` is set."""
    identities = register(config, load)
    senders = (
        Sender(config, load, provider, LineSource(load, provider), identity, stop, on_safe).run()
        for provider, identity in enumerate(identities)
    )
    await asyncio.gather(*senders)


class Sender:
    """One provider, with acknowledgements: after a cut it goes on after the last line that is safe."""

    def __init__(
        self,
        config: Config,
        load: Load,
        provider: int,
        source: Lines,
        identity: Identity,
        stop: asyncio.Event,
        on_safe: Callable[[int], None],
    ) -> None:
        self._address = (config.gateway.host, config.gateway.port)
        self._context = client_context(identity)
        self._source = source
        self._share = load.share(provider)
        self._rate = load.rate / load.providers
        self._stop = stop
        self._on_safe = on_safe
        self._numbers_before: int | None = None
        self._sent = 0
        self._safe = 0

    async def run(self) -> None:
        pause_s = FIRST_PAUSE_S
        while not self._is_done():
            try:
                await self._send_over_one_connection()
                pause_s = FIRST_PAUSE_S
            except (OSError, EOFError) as error:
                if self._numbers_before is None:
                    raise self._no_gateway(error) from None
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, RECONNECT_MAX_S)

    def _no_gateway(self, error: Exception) -> NodeNotRunning:
        host, port = self._address
        return NodeNotRunning(
            f"No gateway takes lines at {host}:{port} ({error})",
            "Start the node with `catchment up`, or correct gateway.host and gateway.port.",
        )

    async def _send_over_one_connection(self) -> None:
        host, port = self._address
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            reader, writer = await asyncio.open_connection(
                host, port, ssl=self._context, server_hostname="localhost"
            )
        notice_cuts(writer.get_extra_info("socket"))
        try:
            writer.write(b"catchment/1 ack\n")
            self._note_safe(await _heard(reader, "ok"))
            self._sent = self._safe
            listening = asyncio.create_task(self._listen(reader))
            try:
                await self._send_lines(writer, listening)
                await self._wait_until_safe(listening)
            finally:
                listening.cancel()
        finally:
            writer.close()

    async def _send_lines(self, writer: asyncio.StreamWriter, listening: "asyncio.Task[None]") -> None:
        for due in self._pace():
            if self._stop.is_set() or self._sent == self._share or listening.done():
                return
            if due:
                writer.write(self._source.lines(self._sent + 1, due))
                await writer.drain()
                self._sent += due
            else:
                await asyncio.sleep(TICK_S)

    async def _wait_until_safe(self, listening: "asyncio.Task[None]") -> None:
        while self._safe < self._sent:
            if listening.done():
                listening.result()
            await asyncio.sleep(TICK_S)

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while True:
            self._note_safe(await _heard(reader, "ack"))

    def _note_safe(self, number: int) -> None:
        if self._numbers_before is None:
            self._numbers_before = number
        newly_safe = number - self._numbers_before - self._safe
        self._safe += newly_safe
        self._on_safe(newly_safe)

    def _pace(self) -> Iterator[int]:
        """How many lines are due now, again and again."""
        began_at, sent_before = time.monotonic(), self._sent
        while True:
            due = LARGEST_WRITE_LINES
            if self._rate:
                on_schedule = int((time.monotonic() - began_at) * self._rate)
                due = min(due, on_schedule - (self._sent - sent_before))
            if self._share is not None:
                due = min(due, self._share - self._sent)
            yield due

    def _is_done(self) -> bool:
        return self._stop.is_set() or self._safe == self._share


async def _heard(reader: asyncio.StreamReader, word: str) -> int:
    """The number behind the word that the gateway is to say now."""
    line = (await reader.readline()).decode()
    said, _, number = line.strip().partition(" ")
    if said != word:
        raise EOFError(line.strip() or "the connection was closed")
    return int(number)


def notice_cuts(connection: socket.socket) -> None:
    """By itself the system gives a connection up only after a quarter of an hour."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(SILENCE_MAX_S * 1000))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, round(SILENCE_MAX_S / 2))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)


def client_context(identity: Identity) -> ssl.SSLContext:
    """TLS as a provider speaks it: it shows its certificate and checks the gateway's."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(identity.certificate_file, identity.key_file)
    context.load_verify_locations(identity.ca_file)
    return context
