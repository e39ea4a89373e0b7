"""Records to a web server by POST.

- 2xx: handed on.
- 408, 429, 5xx or no answer: tried again, in order, for as long as it takes.
- Any other 4xx (and 3xx): the server will never take it. The record goes to a local file of dead letters with
  the reason, and the next one follows; of a batch the halves are tried, until the record at fault is found.
"""

import base64
import http.client
import ssl
import threading
import time
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import orjson
from confluent_kafka import Message

from catchment.config.consume import ConsumeSettings
from catchment.consume.outlets.file import append_durably
from catchment.consume.outlets.lines import as_mapping, json_line
from catchment.consume.source import Batch, NotAllHandled, stamp_of
from catchment.errors import ConfigurationError

TIMEOUT_S = 10.0
_THIS_MACHINE = {"localhost", "127.0.0.1", "::1"}
_TRY_AGAIN = {http.HTTPStatus.REQUEST_TIMEOUT, http.HTTPStatus.TOO_MANY_REQUESTS}


class DeadLetters:
    """A file with what was refused for good: the reason, the record, and its bytes in base64."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, message: Message, reason: str) -> None:
        letter = {
            "refused_at_s": round(time.time(), 3),
            "reason": reason,
            "record": as_mapping(message),
            "bytes_base64": base64.b64encode(message.value() or b"").decode(),
        }
        append_durably(self._file, orjson.dumps(letter, option=orjson.OPT_APPEND_NEWLINE))


class WebOutlet:
    """Each record's bytes as the body of a request of their own, or a batch as NDJSON."""

    def __init__(self, url: str, settings: ConsumeSettings, letters: DeadLetters, as_json: bool) -> None:
        self._url = _checked(url)
        self._letters = letters
        self._as_json = as_json
        self._mine = threading.local()
        self._connections: list[http.client.HTTPConnection] = []
        self._headers = _authorization(settings.http_token_file)
        self._tls = ssl.create_default_context(cafile=settings.http_ca_file)

    def handle(self, batch: Batch) -> None:
        handled = 0
        parts = [batch] if self._as_json else [[message] for message in batch]
        for part in parts:
            handled = self._post_part(part, handled)

    def stop(self) -> None:
        pass

    def close(self) -> None:
        for connection in self._connections:
            connection.close()

    def _post_part(self, part: Batch, handled: int) -> int:
        """Posts a part, in halves if it is refused; gives how many of the whole batch are handled then."""
        status = self._post(part, handled)
        if 200 <= status < 300:
            return handled + len(part)
        if status in _TRY_AGAIN or status >= 500:
            raise NotAllHandled(handled, f"{self._url.netloc} answered {status}")
        if len(part) == 1:
            self._letters.add(part[0], f"{self._url.netloc} answered {status}")
            return handled + 1
        middle = len(part) // 2
        return self._post_part(part[middle:], self._post_part(part[:middle], handled))

    def _post(self, part: Batch, handled: int) -> int:
        body, headers = _ndjson(part) if self._as_json else _raw(part[0])
        path = (self._url.path or "/") + (f"?{self._url.query}" if self._url.query else "")
        connection = self._connection()
        try:
            connection.request("POST", path, body, {**headers, **self._headers})
            response = connection.getresponse()
            response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            reason = f"{self._url.netloc} does not answer ({type(error).__name__}: {error})"
            raise NotAllHandled(handled, reason) from None
        return response.status

    def _connection(self) -> http.client.HTTPConnection:
        """This worker's own; it connects again by itself after it was closed."""
        connection: http.client.HTTPConnection | None = getattr(self._mine, "connection", None)
        if connection is None:
            host, port = self._url.hostname or "", self._url.port
            if self._url.scheme == "https":
                connection = http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=self._tls)
            else:
                connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
            self._mine.connection = connection
            self._connections.append(connection)
        return connection


def _ndjson(part: Batch) -> tuple[bytes, dict[str, str]]:
    return b"".join(map(json_line, part)), {"Content-Type": "application/x-ndjson"}


def _raw(message: Message) -> tuple[bytes, dict[str, str]]:
    """The bytes, with source and number beside them, by which a server knows what it has already."""
    headers = {"Content-Type": "application/octet-stream"}
    stamp = stamp_of(message)
    if stamp:
        headers |= {
            "Catchment-Source": stamp.source.identity.decode(),
            "Catchment-Sequence": str(stamp.sequence),
        }
    return message.value() or b"", headers


def _checked(url: str) -> SplitResult:
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise ConfigurationError(f"{url!r} is not an address to send to", "Give one like https://host/path.")
    if parts.username or parts.password:
        raise ConfigurationError(
            "The address has a name or password in it, which others on this machine can see",
            "Use consume.http_token_file instead.",
        )
    if parts.scheme == "http" and parts.hostname not in _THIS_MACHINE:
        raise ConfigurationError(
            f"{url} is not encrypted", "Use https://, with consume.http_ca_file for an authority of your own."
        )
    return parts


def _authorization(token_file: Path | None) -> dict[str, str]:
    if token_file is None:
        return {}
    try:
        return {"Authorization": f"Bearer {token_file.read_text().strip()}"}
    except OSError as error:
        raise ConfigurationError(
            f"consume.http_token_file ({token_file}) cannot be read: {error.strerror}",
            "Name a file that exists and is readable.",
        ) from None
