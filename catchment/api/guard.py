"""What every request passes first and every response last: size limit, security headers, counting."""

import logging
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from catchment.api.problems import ProblemResponse, unexpected
from catchment.metrics import counter, histogram

MAX_BODY_BYTES = 64 * 1024

CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Strict-Transport-Security": "max-age=31536000",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_REQUESTS = counter("catchment_api_requests_total")
_SECONDS = histogram("catchment_api_response_seconds")
_LOG = logging.getLogger(__name__)


class Guard:
    """The outermost layer of the application; also the last resort for errors that nobody expected."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer(scope, send)
        try:
            if _announced_bytes(scope) > MAX_BODY_BYTES:
                await _TOO_LARGE(scope, receive, answer.send)
            else:
                await self._app(scope, _limited(receive), answer.send)
        except Exception:
            _LOG.exception("%s %s failed", scope["method"], scope["path"])
            if answer.begun:
                raise
            await unexpected()(scope, receive, answer.send)


class _Answer:
    """Sends a response on with our headers, and counts it."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self.begun = False
        self._scope = scope
        self._method = scope["method"] if scope["method"] in _METHODS else "other"
        self._send = send
        self._asked_at_s = time.perf_counter()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("Cache-Control", "no-store")
            _REQUESTS.labels(self._method, message["status"]).inc()
            _SECONDS.labels(self._method, _route(self._scope)).observe(time.perf_counter() - self._asked_at_s)
        await self._send(message)


def requests_served() -> int:
    """How many requests this process has answered."""
    samples = next(iter(_REQUESTS.collect())).samples
    return int(sum(sample.value for sample in samples if sample.name.endswith("_total")))


def _route(scope: Scope) -> str:
    """The address as it was declared: those that were asked for have no end."""
    return getattr(scope.get("route"), "path", "other")


def _announced_bytes(scope: Scope) -> int:
    length = Headers(scope=scope).get("content-length", "0")
    return int(length) if length.isdecimal() else 0


def _limited(receive: Receive) -> Receive:
    """Refuses a body that grows too large without having announced its size."""
    taken_bytes = 0

    async def receive_some() -> Message:
        nonlocal taken_bytes
        message = await receive()
        taken_bytes += len(message.get("body", b""))
        if taken_bytes > MAX_BODY_BYTES:
            raise HTTPException(413, _TOO_LARGE_DETAIL)
        return message

    return receive_some


_TOO_LARGE_DETAIL = f"The request has more than {MAX_BODY_BYTES:,} bytes"
_TOO_LARGE = ProblemResponse(413, "content-too-large", _TOO_LARGE_DETAIL, "Send less at once.")
