"""Receivers of alerts for tests: a server that speaks Telegram's Bot API, one of webhooks, and one of mail.

Each can be closed and opened again on the same port, as a real one is away for a while.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, cast

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import Envelope

from catchment.api.service import tls_context
from catchment.security.authority import Identity


class Request(NamedTuple):
    """What came over HTTP."""

    path: str
    headers: dict[str, str]
    body: bytes


class WebReceiver:
    """Keeps what is posted to it, and answers as it is told."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.requests: list[Request] = []
        self.status = 200
        self.answer: dict[str, Any] = {"ok": True, "result": {"message_id": 1}}
        self.answer_headers: dict[str, str] = {}
        self.before_answer: Callable[[], object] = lambda: None

    def channel(self, directory: Path) -> dict[str, str]:
        """The settings of a channel that sends here, with a secret in a file."""
        secret = directory / "secret"
        secret.write_text("0123456789abcdef0123456789abcdef")
        return {"kind": "webhook", "url": f"http://127.0.0.1:{self.port}/", "secret_file": str(secret)}

    @contextmanager
    def open(self, identity: Identity | None = None) -> Iterator[None]:
        """Over TLS, if it has an identity to show."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.append(
                    Request(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
                )
                receiver.before_answer()
                answer = json.dumps(receiver.answer).encode()
                self.send_response(receiver.status)
                for name, value in {**receiver.answer_headers, "Content-Length": str(len(answer))}.items():
                    self.send_header(name, value)
                # Whoever asked may be dead by now.
                with suppress(ConnectionError):
                    self.end_headers()
                    self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                """A test prints nothing of its own."""

        with ThreadingHTTPServer(("127.0.0.1", self.port), Handler) as server:
            if identity:
                server.socket = tls_context(identity).wrap_socket(server.socket, server_side=True)
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
            thread.start()
            try:
                yield
            finally:
                server.shutdown()
                thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class TelegramReceiver(WebReceiver):
    """A bot's chats: what was sent with the right token."""

    def __init__(self, port: int, token: str) -> None:
        super().__init__(port)
        self._token = token

    @property
    def texts(self) -> list[str]:
        path = f"/bot{self._token}/sendMessage"
        return [json.loads(request.body)["text"] for request in self.requests if request.path == path]


class MailReceiver:
    """A mail server that keeps what it takes."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.mails: list[EmailMessage] = []

    @contextmanager
    def open(self) -> Iterator[None]:
        controller = Controller(self, hostname="127.0.0.1", port=self.port)
        controller.start()
        try:
            yield
        finally:
            controller.stop()

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Envelope) -> str:  # noqa: N802
        parsed = message_from_bytes(cast(bytes, envelope.content), policy=policy.default)
        self.mails.append(parsed)
        return "250 OK"

    @property
    def texts(self) -> list[str]:
        bodies = [mail.get_body(("plain",)) for mail in self.mails]
        return [body.get_content().strip() for body in bodies if body]
