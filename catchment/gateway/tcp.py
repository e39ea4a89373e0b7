"""The TCP listener: lines or frames over TLS from providers that show a registered certificate."""

import asyncio
import logging
import ssl
import time
from functools import partial
from typing import Any, cast

from catchment.config import GatewaySettings
from catchment.config.models import WhenFull
from catchment.errors import AccessRefused, InvalidRequest
from catchment.gateway.conversation import Manner, Opening
from catchment.gateway.frames import FrameSplitter
from catchment.gateway.intake import Intake
from catchment.gateway.limits import Places, RateLimit
from catchment.gateway.lines import LineSplitter
from catchment.metrics import counter, gauge
from catchment.security.authority import Identity
from catchment.security.providers import Providers

log = logging.getLogger(__name__)

RECEIVED = counter("catchment_gateway_received_records_total")
REFUSED = counter("catchment_gateway_refused_connections_total")
CONNECTIONS = gauge("catchment_gateway_connections")

HANDSHAKE_TIMEOUT_S = 10.0
SWEEP_S = 5.0
ROOM_POLL_S = 0.05
DRAIN_PAUSE_S = 0.2


class TcpListener:
    """Accepts connections and reads from them as long as the spool has room."""

    name = "tcp"

    def __init__(
        self,
        settings: GatewaySettings,
        providers: Providers,
        intake: Intake,
        identity: Identity,
        rate: RateLimit,
    ) -> None:
        limits = settings.limits
        self.settings = settings
        self.providers = providers
        self.intake = intake
        self.rate = rate
        self.places = Places(limits.max_connections, limits.max_connections_per_provider)
        self.connections: set[Connection] = set()
        self.numbered: dict[str, Connection] = {}
        self._identity = identity
        self._server: asyncio.Server | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self),
            self.settings.host,
            self.settings.port,
            ssl=tls_context(self._identity),
            ssl_handshake_timeout=HANDSHAKE_TIMEOUT_S,
            backlog=4096,
        )
        self._tasks = [asyncio.create_task(self._sweep()), asyncio.create_task(self._resume_when_room())]

    async def drain(self, timeout_s: float) -> None:
        """Accepts no more, reads what providers have under way until they pause, and closes."""
        if self._server:
            self._server.close()
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline and self._heard_within(DRAIN_PAUSE_S):
            await asyncio.sleep(DRAIN_PAUSE_S / 4)
        for task in self._tasks:
            task.cancel()
        for connection in list(self.connections):
            connection.close()

    def figures(self) -> dict[str, Any]:
        return {"connections": len(self.connections)}

    def _heard_within(self, seconds: float) -> bool:
        since = time.monotonic() - seconds
        return any(connection.heard_at > since for connection in self.connections)

    async def _sweep(self) -> None:
        """Closes connections that have been silent for too long, or whose provider was removed."""
        while True:
            await asyncio.sleep(SWEEP_S)
            since = time.monotonic() - self.settings.idle_timeout_s
            for connection in list(self.connections):
                if connection.heard_at < since or not connection.may_stay():
                    connection.close()

    async def _resume_when_room(self) -> None:
        while True:
            await asyncio.sleep(ROOM_POLL_S)
            if self.intake.has_room:
                for connection in self.connections:
                    connection.resume()


class Connection(asyncio.Protocol):
    """One provider's connection. Its stream has the provider's name."""

    def __init__(self, listener: TcpListener) -> None:
        self._listener = listener
        self._intake = listener.intake
        self._opening: Opening | None = Opening()
        self._manner = Manner()
        self._splitter: LineSplitter | FrameSplitter = LineSplitter(listener.settings.max_line_bytes)
        self._stream = ""
        self._number = 0
        self._paused = False
        self.heard_at = time.monotonic()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._certificate = self._transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
        try:
            provider = self._listener.providers.name_of(self._certificate)
        except AccessRefused as refusal:
            self._refuse(str(refusal))
            return
        if not self._listener.places.take(provider):
            self._refuse(f"{provider} has, or all have, as many connections as gateway.limits allows")
            return
        self._stream = provider
        self._listener.connections.add(self)
        CONNECTIONS.inc()

    def _refuse(self, reason: str) -> None:
        REFUSED.inc()
        log.warning("%s: %s", self._transport.get_extra_info("peername"), reason)
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        if not self._stream:
            return
        self.heard_at = time.monotonic()
        messages = self._open(data) if self._opening else self._splitter.split(data)
        if messages:
            self._accept(messages)
        for beginning in self._splitter.too_long:
            self._intake.discard(beginning, self._stream, "line-too-long")
        self._splitter.too_long.clear()
        if self._splitter.is_broken:
            self._transport.close()
        elif not self._intake.has_room:
            self._wait_for_room()
        elif self._listener.rate.wait_s(self._stream):
            self._pause()

    def connection_lost(self, error: Exception | None) -> None:
        if self not in self._listener.connections:
            return
        self._listener.connections.discard(self)
        self._listener.places.leave(self._stream)
        CONNECTIONS.dec()
        if self._listener.numbered.get(self._stream) is self:
            del self._listener.numbered[self._stream]
        rest = self._opening.take_rest() if self._opening else self._splitter.take_rest()
        # A provider with numbers sends an unfinished message again by itself.
        if rest and not self._manner.numbered:
            self._intake.discard(rest, self._stream, "line-unfinished")

    def may_stay(self) -> bool:
        """Whether the provider is still registered with the certificate that it showed."""
        try:
            return self._listener.providers.name_of(self._certificate) == self._stream
        except AccessRefused:
            return False

    def resume(self) -> None:
        if self._paused and not self._transport.is_closing() and not self._listener.rate.wait_s(self._stream):
            self._paused = False
            self._transport.resume_reading()

    def close(self) -> None:
        self._transport.close()

    def _open(self, data: bytes) -> list[bytes]:
        assert self._opening
        try:
            opened = self._opening.hear(data)
        except InvalidRequest as refusal:
            self._opening = None
            self._manner = Manner(numbered=True)
            self._say(f"error {refusal}")
            self._transport.close()
            return []
        if opened is None:
            return []
        self._opening = None
        self._manner, rest = opened
        self._splitter = self._manner.splitter(self._listener.settings.max_line_bytes)
        if self._manner.numbered:
            self._begin_numbers()
        return self._splitter.split(rest) if rest else []

    def _begin_numbers(self) -> None:
        """Tells the provider where to go on; a connection of its own that it left open counts no more."""
        earlier = self._listener.numbered.get(self._stream)
        if earlier:
            earlier.close()
        self._listener.numbered[self._stream] = self
        self._number = self._intake.last_number(self._stream)
        self._intake.offer(self._stream, [], when_safe=partial(self._say, f"ok {self._number}"))

    def _accept(self, messages: list[bytes]) -> None:
        if not self._manner.numbered:
            self._intake.offer(self._stream, messages)
        elif self._listener.numbered.get(self._stream) is self:
            self._number += len(messages)
            when_safe = partial(self._say, f"ack {self._number}") if self._manner.ack else None
            self._intake.offer(self._stream, messages, number=self._number, when_safe=when_safe)
        self._listener.rate.spend(self._stream, len(messages))
        RECEIVED.inc(len(messages))

    def _wait_for_room(self) -> None:
        if self._listener.settings.spool.when_full is WhenFull.REFUSE:
            self._say("error The spool is full. Send again later.")
            self._transport.close()
        else:
            self._pause()

    def _pause(self) -> None:
        self._paused = True
        self._transport.pause_reading()

    def _say(self, words: str) -> None:
        if self._manner.numbered and not self._transport.is_closing():
            self._transport.write(words.encode() + b"\n")


def tls_context(identity: Identity) -> ssl.SSLContext:
    """TLS 1.3 that lets nobody in without a certificate of our own authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(identity.certificate_file, identity.key_file)
    context.load_verify_locations(identity.ca_file)
    context.verify_mode = ssl.CERT_REQUIRED
    return context
