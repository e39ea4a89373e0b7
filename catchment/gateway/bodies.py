"""What messages the body of an HTTP request holds."""

import json
from collections.abc import Iterator
from typing import NoReturn

from catchment.errors import InvalidRequest, UnsupportedContent

SINGLE = frozenset({"", "application/octet-stream", "text/plain"})
LINES = "application/x-ndjson"
JSON = "application/json"

_SPACE = " \t\r\n"


def messages_in(body: bytes, content_type: str) -> list[bytes]:
    """The messages in a body, byte for byte as they stand there."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind in SINGLE:
        return [body]
    if kind == LINES:
        return [line for ended in body.split(b"\n") if (line := ended.removesuffix(b"\r"))]
    if kind == JSON:
        return _values(body)
    raise UnsupportedContent(
        f"Content of the type {kind} is not taken",
        f"Use application/octet-stream or text/plain for one message, {LINES} or {JSON} for several.",
    )


def _values(body: bytes) -> list[bytes]:
    """The elements of an array, or the one value that is none; cut out, so that no digit changes."""
    try:
        text = body.decode()
        if text.lstrip(_SPACE).startswith("["):
            return [element.encode() for element in _elements(text)]
        json.loads(text, parse_constant=_refuse_constant)
        return [text.strip(_SPACE).encode()]
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InvalidRequest(f"The body is not JSON: {reason}", "Correct it, or its Content-Type.") from None


def _elements(text: str) -> Iterator[str]:
    scanner = json.JSONDecoder(parse_constant=_refuse_constant)
    at = _after_space(text, text.index("[") + 1)
    if text[at : at + 1] == "]":
        return _expect_end(text, at + 1)
    while True:
        _, end = scanner.raw_decode(text, at)
        yield text[at:end]
        at = _after_space(text, end)
        if text[at : at + 1] == "]":
            return _expect_end(text, at + 1)
        if text[at : at + 1] != ",":
            raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
        at = _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    while text[at : at + 1] and text[at] in _SPACE:
        at += 1
    return at


def _expect_end(text: str, at: int) -> None:
    if _after_space(text, at) != len(text):
        raise json.JSONDecodeError("Extra data", text, at)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
