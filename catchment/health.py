"""How a part of a node says how it is: one JSON report for whoever connects to its Unix socket.

A socket in the data directory needs no port and no further identity: only the node's owner can reach it.
"""

import os
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from prometheus_client import REGISTRY, generate_latest
from pydantic import BaseModel, Field, ValidationError

from catchment.errors import NodeNotRunning

STOP_POLL_S = 0.2


class State(StrEnum):
    """What a part is doing; `running` means that it does its job."""

    STARTING = "starting"
    RUNNING = "running"
    DEGRADED = "degraded"
    RESTARTING = "restarting"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


class Report(BaseModel, frozen=True):
    """What a part says of itself."""

    state: State
    detail: str = ""
    figures: dict[str, Any] = Field(default_factory=dict)
    metrics: str = ""


def metrics_text() -> str:
    """This process's metrics in Prometheus' text format."""
    return generate_latest(REGISTRY).decode()


class Reporter:
    """Answers on a socket, from a thread of its own, with what `report` says at that moment."""

    def __init__(self, path: Path, report: Callable[[], Report]) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                self.request.sendall(report().model_dump_json().encode())

        with _short(path) as address:
            self._server = socketserver.UnixStreamServer(address, Handler)
        path.chmod(0o600)
        self._path = path
        serve = partial(self._server.serve_forever, poll_interval=STOP_POLL_S)
        threading.Thread(target=serve, name="reporter", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._path.unlink(missing_ok=True)


def ask(path: Path, timeout_s: float = 2.0) -> Report:
    """The report of the part behind a socket."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection, _short(path) as address:
            connection.settimeout(timeout_s)
            connection.connect(address)
            chunks = list(iter(lambda: connection.recv(65536), b""))
        return Report.model_validate_json(b"".join(chunks))
    except (OSError, ValidationError) as error:
        raise NodeNotRunning(
            f"{path.stem} does not answer ({error.__class__.__name__})", "Look at `catchment status`."
        ) from None


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """An address for a socket however deep its directory: the system takes 107 bytes at most."""
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)
