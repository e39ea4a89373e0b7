"""What the channels over HTTP share."""

import ssl
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from catchment.alerts.channels import Undelivered
from catchment.config.alerts import is_loopback
from catchment.errors import ConfigurationError

_SHOWN_CHARACTERS = 200
_LONGEST_WAIT_S = 3600.0
_NOT_EVEN_BEGUN = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


def open_client(url: str, timeout_s: float, ca_file: Path | None = None) -> httpx.Client:
    """A client for one address; what is on this machine is not looked for behind a proxy."""
    try:
        context = ssl.create_default_context(cafile=str(ca_file) if ca_file else None)
    except OSError as error:
        raise ConfigurationError(
            f"{ca_file} cannot be used: {error.strerror or error}",
            "Name a readable file with certificates in PEM.",
        ) from None
    return httpx.Client(timeout=timeout_s, verify=context, trust_env=not is_loopback(urlsplit(url).hostname))


def post(client: httpx.Client, url: str, content: bytes, headers: dict[str, str], who: str) -> None:
    """Sends; anything but a 2xx is no delivery. The address stays out of messages: it may hold a secret."""
    try:
        response = client.post(url, content=content, headers=headers)
    except httpx.HTTPError as error:
        begun = not isinstance(error, _NOT_EVEN_BEGUN)
        raise Undelivered(f"{who} does not answer ({type(error).__name__})", in_doubt=begun) from None
    if not response.is_success:
        said = " ".join(response.text[:_SHOWN_CHARACTERS].split())
        raise Undelivered(
            f"{who} answered {response.status_code}: {said}".rstrip(": "), _retry_after_s(response)
        )


def _retry_after_s(response: httpx.Response) -> float:
    """How long the server wants to be left alone, if it says so in seconds."""
    wanted = response.headers.get("retry-after", "")
    return min(float(wanted), _LONGEST_WAIT_S) if wanted.isdecimal() else 0.0
