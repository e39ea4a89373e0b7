"""The HTTP listener: requests over TLS from providers that show a registered certificate.

uvicorn's protocol does HTTP; here is what it leaves open: who the peer is, and bounds on what it may hold.
"""

import asyncio
import logging
import math
import ssl
import time
from http import HTTPStatus
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from catchment.config import GatewaySettings
from catchment.errors import AccessRefused, InvalidRequest, MachineError
from catchment.gateway.adapters import Inlet
from catchment.gateway.http_requests import Requests, problem_body
from catchment.gateway.limits import Places, RateLimit
from catchment.security.authority import Identity
from catchment.security.providers import Providers

HANDSHAKE_TIMEOUT_S = 10.0
SWEEP_S = 5.0
DRAIN_POLL_S = 0.02
MAX_HEAD_BYTES = 32 * 1024
MAX_PIPELINED = 100


class HttpListener:
    """Takes messages over HTTP; see docs/how-to/send-over-http.md."""

    name = "http"

    def __init__(
        self,
        settings: GatewaySettings,
        identity: Identity,
        providers: Providers,
        inlet: Inlet,
        rate: RateLimit,
    ) -> None:
        self._settings = settings
        self._identity = identity
        self._providers = providers
        self._requests = Requests(settings, providers, inlet, rate)
        limits = settings.limits
        self.places = Places(limits.max_connections, limits.max_connections_per_provider)
        self.refused_connections = 0
        self._state = ServerState()
        self._server: asyncio.Server | None = None
        self._sweeper: asyncio.Task[None] | None = None

    async def start(self) -> None:
        config = uvicorn.Config(
            self._requests,
            log_config=None,
            log_level=logging.ERROR,
            access_log=False,
            interface="asgi3",
            lifespan="off",
            proxy_headers=False,
            timeout_keep_alive=math.ceil(self._settings.http.idle_timeout_s),
            ws="none",
        )
        config.load()
        host, port = self._settings.host, self._settings.http.port
        try:
            self._server = await asyncio.get_running_loop().create_server(
                lambda: ProviderConnection(self, config, self._state),
                host,
                port,
                ssl=tls_context(self._identity),
                ssl_handshake_timeout=HANDSHAKE_TIMEOUT_S,
                backlog=1024,
            )
        except OSError as error:
            raise MachineError(
                f"The gateway cannot listen for HTTP on {host}:{port} ({error.strerror})",
                "Stop what listens there, or set gateway.http.port to another.",
            ) from None
        self._sweeper = asyncio.create_task(self._sweep())

    async def drain(self, timeout_s: float) -> None:
        if self._server:
            self._server.close()
        if self._sweeper:
            self._sweeper.cancel()
        for connection in list(self._state.connections):
            connection.shutdown()
        deadline = time.monotonic() + timeout_s
        while self._state.connections and time.monotonic() < deadline:
            await asyncio.sleep(DRAIN_POLL_S)
        for connection in list(self._state.connections):
            connection.transport.abort()

    def figures(self) -> dict[str, Any]:
        return {
            "port": self._settings.http.port,
            "connections": self.places.taken,
            "refused_connections": self.refused_connections,
            "accepted": self._requests.accepted,
        }

    def provider_of(self, certificate: bytes) -> str:
        """The provider's name; empty for one that is not registered, whose requests are refused."""
        try:
            return self._providers.name_of(certificate)
        except AccessRefused:
            return ""

    async def _sweep(self) -> None:
        """Closes connections on which no request has begun for too long, however slowly they speak."""
        while True:
            await asyncio.sleep(min(SWEEP_S, self._settings.http.idle_timeout_s))
            since = time.monotonic() - self._settings.http.idle_timeout_s
            for connection in list(self._state.connections):
                if isinstance(connection, ProviderConnection) and connection.idle_since < since:
                    connection.transport.abort()


class ProviderConnection(HttpToolsProtocol):
    """One connection: knows its peer's certificate, and what it may send before it is worth a request."""

    def __init__(self, listener: HttpListener, config: uvicorn.Config, state: ServerState) -> None:
        super().__init__(config, state, {})
        self._listener = listener
        self._provider: str | None = None
        self._head_bytes = 0
        self._heads = 0
        self._in_head = False
        self.idle_since = time.monotonic()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        certificate = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
        # uvicorn gives every request a copy of this as its state.
        self.app_state = {"certificate": certificate}
        provider = self._listener.provider_of(certificate)
        if self._listener.places.take(provider):
            self._provider = provider
        else:
            self._listener.refused_connections += 1
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._provider is not None:
            self._listener.places.leave(self._provider)
            self._provider = None

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        heads = self._heads
        super().data_received(data)
        if self._in_head and self._heads == heads:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._refuse(431, "headers-too-large", "Send shorter headers and a shorter address.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._heads += 1
        self._head_bytes = 0
        self._in_head = True

    def on_headers_complete(self) -> None:
        self._in_head = False
        self.idle_since = math.inf
        super().on_headers_complete()
        if len(self.pipeline) > MAX_PIPELINED:
            raise InvalidRequest("Too many requests at once", "Wait for answers.")

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete:
            self.idle_since = time.monotonic()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, InvalidRequest.code, "Send HTTP/1.1, and few requests ahead of their answers.")

    def _refuse(self, status: int, code: str, remedy: str) -> None:
        """Answers what is not a request, and ends the connection."""
        body = problem_body(status, code, "This is no request that can be taken", remedy)
        head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/problem+json\r\n"
        head += f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(head.encode() + body)
        self.transport.close()


def tls_context(identity: Identity) -> ssl.SSLContext:
    """TLS 1.3 and 1.2 that lets nobody in without a certificate of our own authority."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(identity.certificate_file, identity.key_file)
    context.load_verify_locations(identity.ca_file)
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols(["http/1.1"])
    return context
