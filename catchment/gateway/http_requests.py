"""What is done with an HTTP request: who sends it, whether it may, and what it is answered."""

import asyncio
import logging
import math
from email.utils import formatdate
from http import HTTPStatus

import orjson
from starlette.types import Receive, Scope, Send

from catchment.config import GatewaySettings
from catchment.errors import (
    AccessRefused,
    CatchmentError,
    ContentTooLarge,
    InvalidRecord,
    InvalidRequest,
    NotFound,
    RateExceeded,
    RequestTimeout,
    SpoolFull,
)
from catchment.gateway.adapters import Inlet
from catchment.gateway.bodies import messages_in
from catchment.gateway.limits import Places, RateLimit
from catchment.metrics import counter
from catchment.records import check_stream
from catchment.security.providers import Providers

log = logging.getLogger(__name__)

REQUESTS = counter("catchment_gateway_http_requests_total")

STREAMS = "/v1/streams/"
MAX_KEY_CHARACTERS = 200
RETRY_AFTER_S = 5
# Of a body that is too large so many times the limit is passed over, so that its sender reads the answer.
PASSED_OVER = 4

Headers = dict[bytes, bytes]


class Requests:
    """The ASGI application behind the listener; the certificate is in each request's state."""

    def __init__(
        self, settings: GatewaySettings, providers: Providers, inlet: Inlet, rate: RateLimit
    ) -> None:
        self._settings = settings
        self._providers = providers
        self._inlet = inlet
        self._rate = rate
        http = settings.http
        self._under_way = Places(settings.limits.max_connections, http.max_requests_per_provider)
        self.accepted = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            status, headers, body = await self._answer(scope, receive)
        except _SenderGone:
            return
        except CatchmentError as error:
            status, headers, body = _problem(error)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            status, headers, body = _problem(CatchmentError("The request failed", "Look at gateway.log."))
        REQUESTS.labels(status).inc()
        headers = [*headers, (b"content-length", b"%d" % len(body)), (b"date", _now())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> "_Answer":
        if not scope["path"].startswith(STREAMS):
            raise NotFound("There is nothing at this address", f"Send to {STREAMS}NAME.")
        if scope["method"] != "POST":
            return _method_refused()
        provider = self._providers.name_of(scope["state"]["certificate"])
        with self._under_way.hold(provider) as placed:
            wait_s = self._rate.wait_s(provider)
            if not placed or wait_s:
                what = "sends more records a second" if wait_s else "has more requests under way"
                raise RateExceeded(f"The provider {provider} {what} than it may", max(1, math.ceil(wait_s)))
            return await self._take(provider, scope, receive)

    async def _take(self, provider: str, scope: Scope, receive: Receive) -> "_Answer":
        headers: Headers = dict(scope["headers"])
        stream = _own_stream(provider, scope["path"].removeprefix(STREAMS))
        key = _key(headers)
        body = await self._read(headers, receive)
        messages = messages_in(body, headers.get(b"content-type", b"").decode("latin-1"))
        if any(len(message) > self._settings.max_line_bytes for message in messages):
            raise ContentTooLarge(
                f"A message has more than {self._settings.max_line_bytes:,} bytes; none of them was taken",
                "Send smaller messages, or raise gateway.max_line_bytes.",
            )
        self._rate.spend(provider, len(messages))
        accepted = await self._inlet.accept(stream, messages, key=key) if messages else 0
        self.accepted += accepted
        repeated = bool(messages) and not accepted
        status = HTTPStatus.OK if repeated else HTTPStatus.ACCEPTED
        return status, _JSON, orjson.dumps({"accepted": accepted, "repeated": repeated})

    async def _read(self, headers: Headers, receive: Receive) -> bytes:
        most = self._settings.http.max_body_bytes
        if b"expect" in headers and int(headers.get(b"content-length", b"0")) > most:
            raise _too_large(most)
        try:
            async with asyncio.timeout(self._settings.http.body_timeout_s):
                return await _body(receive, most)
        except TimeoutError:
            raise RequestTimeout(
                f"The body was not there after {self._settings.http.body_timeout_s:g} s",
                "Send smaller bodies, or raise gateway.http.body_timeout_s.",
            ) from None


def _now() -> bytes:
    return formatdate(usegmt=True).encode()


_Answer = tuple[int, list[tuple[bytes, bytes]], bytes]
_JSON = [(b"content-type", b"application/json")]


class _SenderGone(Exception):
    """The connection ended before the request did: there is nobody to answer."""


async def _body(receive: Receive, most_bytes: int) -> bytes:
    parts: list[bytes] = []
    taken_bytes = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _SenderGone
        part = message.get("body", b"")
        taken_bytes += len(part)
        if taken_bytes <= most_bytes:
            parts.append(part)
        else:
            parts.clear()
        if not message.get("more_body") or taken_bytes > most_bytes * PASSED_OVER:
            break
    if taken_bytes > most_bytes:
        raise _too_large(most_bytes)
    return b"".join(parts)


def _too_large(most_bytes: int) -> ContentTooLarge:
    return ContentTooLarge(
        f"The body has more than {most_bytes:,} bytes",
        "Send less at once, or raise gateway.http.max_body_bytes.",
    )


def _own_stream(provider: str, stream: str) -> str:
    try:
        check_stream(stream)
    except InvalidRecord as error:
        raise InvalidRequest(error.happened, error.remedy) from None
    if stream != provider and not stream.startswith(f"{provider}/"):
        raise AccessRefused(
            f"The stream {stream} is not one of the provider {provider}",
            f"Send to {STREAMS}{provider}, or to a name that begins with {provider}/.",
        )
    return stream


def _key(headers: Headers) -> str:
    key = headers.get(b"idempotency-key", b"").decode("latin-1")
    if len(key) > MAX_KEY_CHARACTERS or not (key.isascii() and key.isprintable()):
        raise InvalidRequest(
            "The Idempotency-Key cannot be used", f"Use 1 to {MAX_KEY_CHARACTERS} printable ASCII characters."
        )
    return key


def _method_refused() -> _Answer:
    detail = "Only POST is taken here"
    body = problem_body(HTTPStatus.METHOD_NOT_ALLOWED, "method-not-allowed", detail, "Send with POST.")
    return HTTPStatus.METHOD_NOT_ALLOWED, [*_PROBLEM, (b"allow", b"POST")], body


def _problem(error: CatchmentError) -> _Answer:
    headers = list(_PROBLEM)
    if isinstance(error, RateExceeded):
        headers.append((b"retry-after", b"%d" % error.retry_after_s))
    if isinstance(error, SpoolFull):
        headers.append((b"retry-after", b"%d" % RETRY_AFTER_S))
    if isinstance(error, ContentTooLarge | RequestTimeout):
        # The rest of the body may still come: it is not worth reading.
        headers.append((b"connection", b"close"))
    body = problem_body(error.http_status, error.code, error.happened, error.remedy)
    return error.http_status, headers, body


_PROBLEM = [(b"content-type", b"application/problem+json")]


def problem_body(status: int, code: str, detail: str, remedy: str) -> bytes:
    """An RFC 9457 problem, of the same shape as those of the API."""
    return orjson.dumps(
        {
            "type": f"urn:catchment:problem:{code}",
            "title": HTTPStatus(status).phrase,
            "status": status,
            "detail": detail,
            "code": code,
            "remedy": remedy,
        }
    )
