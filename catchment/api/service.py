"""Runs the API and the console over HTTPS until it is told to stop."""

import gc
import importlib
import logging
import signal
import socket
import ssl
import sys
import threading

import uvicorn
from fastapi import FastAPI

from catchment.alerts.view import AlertView
from catchment.api.app import create_app
from catchment.api.guard import requests_served
from catchment.api.services import Services
from catchment.config import Config
from catchment.errors import MachineError
from catchment.health import Report, Reporter, State, metrics_text
from catchment.kafka.parties import Party
from catchment.kafka.table import Tables
from catchment.ledger.gaps import GapKeeper
from catchment.ledger.publishing import HopPublisher
from catchment.ledger.view import LedgerView
from catchment.schemas.shipped import ShippedSchemas
from catchment.security.authority import Authority, Identity

PART = "api"
# How long one thread may keep the interpreter while others wait. The 5 ms of old would be noticed by requests
# that change threads a few times while the twins' changelog is being read.
_SWITCH_S = 0.001
# The collector looks for cycles after so many new objects, of which reading a changelog makes a great many.
_COLLECT_AFTER = (20_000, 20, 20)
# Requests that are under way may take so long to end; live streams are closed at once.
_DRAIN_S = 5


class Server(uvicorn.Server):
    """A server that closes live streams first, so that stopping does not wait for them."""

    def __init__(self, app: FastAPI, identity: Identity) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_level=logging.WARNING,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                ws="none",
                timeout_graceful_shutdown=_DRAIN_S,
                ssl_context_factory=lambda *_: tls_context(identity),
            )
        )
        self._services: Services = app.state.services

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self._services.twins.open()
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._services.hub.close()
        self._services.readings.close()
        self._services.recounts.stop()
        await self._services.twins.close()
        await super().shutdown(sockets)


def run(config: Config) -> None:
    """Serves until SIGTERM or SIGINT."""
    # uvicorn stops in order on its own, then raises the signal anew: let it end us through `finally`.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    sys.setswitchinterval(_SWITCH_S)
    gc.set_threshold(*_COLLECT_AFTER)
    identity = Authority(config.paths.identities, config.hostnames).identity(PART)
    ledger = LedgerView(config, Party.API)
    tables = Tables(config, Party.API)
    app = create_app(config, ledger, tables)
    server = Server(app, identity)
    listener = listen(config)
    publisher = HopPublisher(config, Party.API, ledger)
    gap_keeper = GapKeeper(config, Party.API, ledger, app.state.services.gaps)
    alerts = AlertView(config, Party.API, app.state.services.alerts)
    schemas = ShippedSchemas(app.state.services.schemas, tables)
    ledger.start()
    alerts.start()
    tables.start()
    app.state.services.audit.start()
    publisher.start()
    gap_keeper.start()
    schemas.start()
    app.state.services.twins.start()
    threading.Thread(target=_prepare_for_questions, name="prepare", daemon=True).start()
    reporter = Reporter(config.paths.socket(part_of(config)), lambda: report(app.state.services))
    try:
        server.run(sockets=[listener])
    finally:
        reporter.close()
        app.state.services.twins.stop()
        schemas.stop()
        gap_keeper.stop()
        publisher.stop()
        app.state.services.audit.stop()
        alerts.stop()
        tables.stop()
        ledger.stop()


def _prepare_for_questions() -> None:
    """The lake's tables are opened with this: the first chart would wait a second for it."""
    importlib.import_module("pyarrow.dataset")


def part_of(config: Config) -> str:
    """The name of this instance as a part of the node; several have sockets of their own."""
    instance = config.twin_view.instance
    return PART if instance == PART else f"{PART}-{instance}"


def report(services: Services) -> Report:
    """How this part is: it runs when it has read the ledger, what was declared, and its twins."""
    twins = services.twins
    twins.note()
    state, detail = twins.state()
    if unread := services.unread:
        state, detail = State.STARTING, f"reading {' and '.join(unread)}"
    figures = {
        "requests": requests_served(),
        "open_pages": services.hub.open_pages,
        "twins": twins.view.here.held,
        "partitions": sorted(twins.view.here.ready),
        "instances": len(twins.view.here.alive()),
        "peer_port": twins.view.here.peer_port,
    }
    return Report(state=state, detail=detail, figures=figures, metrics=metrics_text())


def listen(config: Config) -> socket.socket:
    """The socket of the service, or a message that says which key to change."""
    host, port = config.api.host, config.api.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise MachineError(
            f"The API cannot listen on {host}:{port} ({error.strerror})",
            "Stop what listens there, or set api.host and api.port to others.",
        ) from None


def tls_context(identity: Identity) -> ssl.SSLContext:
    """TLS 1.3 and 1.2, nothing older."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(identity.certificate_file, identity.key_file)
    return context
