"""The TCP listener: lines over TLS from providers that show a registered certificate."""

import asyncio
import logging
import ssl
import time
from typing import cast

from prometheus_client import Counter, Gauge

from catchment.config import GatewaySettings
from catchment.errors import AccessRefused
from catchment.gateway.forwarder import Forwarder
from catchment.gateway.intake import Intake
from catchment.gateway.lines import LineSplitter
from catchment.security.authority import Identity
from catchment.security.providers import Providers

log = logging.getLogger(__name__)

RECEIVED = Counter("catchment_gateway_received_records", "Lines that became records.")
REFUSED = Counter(
    "catchment_gateway_refused_connections", "Connections refused for lack of a registered identity."
)
CONNECTIONS = Gauge("catchment_gateway_connections", "Providers that are connected now.")

HANDSHAKE_TIMEOUT_S = 10.0
SWEEP_S = 5.0
DRAIN_PAUSE_S = 0.2


class LineListener:
    """Accepts connections and reads from them as long as the forwarder has room."""

    def __init__(
        self, settings: GatewaySettings, providers: Providers, intake: Intake, forwarder: Forwarder
    ) -> None:
        self.settings = settings
        self.providers = providers
        self.intake = intake
        self.forwarder = forwarder
        self.connections: set[LineConnection] = set()
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.Task[None] | None = None

    async def start(self, identity: Identity) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: LineConnection(self),
            self.settings.host,
            self.settings.port,
            ssl=tls_context(identity),
            ssl_handshake_timeout=HANDSHAKE_TIMEOUT_S,
            backlog=1024,
        )
        self._sweeper = asyncio.create_task(self._sweep())

    async def drain(self, timeout_s: float) -> None:
        """Accepts no more, reads what providers have under way until they pause, and closes."""
        if self._server:
            self._server.close()
        if self._sweeper:
            self._sweeper.cancel()
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline and self._heard_within(DRAIN_PAUSE_S):
            await asyncio.sleep(DRAIN_PAUSE_S / 4)
        for connection in list(self.connections):
            connection.close()

    def resume(self) -> None:
        """Goes on reading: the forwarder has room again."""
        for connection in self.connections:
            connection.resume()

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


class LineConnection(asyncio.Protocol):
    """One provider's connection. Its stream has the provider's name."""

    def __init__(self, listener: LineListener) -> None:
        self._listener = listener
        self._lines = LineSplitter(listener.settings.max_line_bytes)
        self._stream = ""
        self.heard_at = time.monotonic()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._certificate = self._transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
        try:
            self._stream = self._listener.providers.name_of(self._certificate)
        except AccessRefused as refusal:
            REFUSED.inc()
            log.warning("%s: %s", self._transport.get_extra_info("peername"), refusal)
            self._transport.abort()
            return
        self._listener.connections.add(self)
        CONNECTIONS.inc()

    def data_received(self, data: bytes) -> None:
        if not self._stream:
            return
        self.heard_at = time.monotonic()
        lines = self._lines.split(data)
        if lines:
            self._accept(lines)
        while self._lines.too_long:
            self._listener.forwarder.bury(self._lines.too_long.pop(0), self._stream, "line-too-long")
        if not self._listener.forwarder.has_room:
            self._transport.pause_reading()

    def connection_lost(self, error: Exception | None) -> None:
        if self not in self._listener.connections:
            return
        self._listener.connections.discard(self)
        CONNECTIONS.dec()
        rest = self._lines.take_rest()
        if rest:
            self._listener.forwarder.bury(rest, self._stream, "line-unfinished")

    def may_stay(self) -> bool:
        """Whether the provider is still registered with the certificate that it showed."""
        try:
            return self._listener.providers.name_of(self._certificate) == self._stream
        except AccessRefused:
            return False

    def resume(self) -> None:
        self._transport.resume_reading()

    def close(self) -> None:
        self._transport.close()

    def _accept(self, lines: list[bytes]) -> None:
        batch = self._listener.intake.stamp(self._stream, lines)
        self._listener.forwarder.forward(batch)
        RECEIVED.inc(len(lines))


def tls_context(identity: Identity) -> ssl.SSLContext:
    """TLS 1.3 that lets nobody in without a certificate of our own authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(identity.certificate_file, identity.key_file)
    context.load_verify_locations(identity.ca_file)
    context.verify_mode = ssl.CERT_REQUIRED
    return context
