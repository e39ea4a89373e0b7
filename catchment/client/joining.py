"""Joining a centre: the site's half of an invitation, over TLS that is pinned to the centre's certificate."""

import hmac
import socket
import ssl
from urllib.parse import urlsplit

import httpx

from catchment.client.session import TIMEOUT_S, refusal_of
from catchment.config import Config
from catchment.errors import AccessRefused, ConfigurationError, NodeNotRunning
from catchment.kafka.identities import bootstrap_servers
from catchment.security.authority import Credentials, fingerprint

_PATH = "/api/v1/sites/join"
_HTTPS_PORT = 443


def join_centre(config: Config, url: str, token: str, expected: str, credentials: Credentials) -> None:
    """Tells a centre where this site is, and gives it the identity that it may read with."""
    context = _pinned(url, expected)
    body = {
        "token": token,
        "site": config.site,
        "bootstrap_servers": bootstrap_servers(config),
        "ca": credentials.ca,
        "certificate": credentials.certificate,
        "key": credentials.key,
    }
    try:
        with httpx.Client(base_url=url, verify=context, timeout=TIMEOUT_S) as client:
            response = client.post(_PATH, json=body)
    except httpx.TransportError as error:
        raise _unanswered(url, str(error)) from None
    if response.is_error:
        raise refusal_of(response)


def _pinned(url: str, expected: str) -> ssl.SSLContext:
    """Trusts the one certificate that the invitation names, and no authority: nothing is known of it here."""
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        raise ConfigurationError(f"{url!r} is not the address of a centre", "Use https://HOST:PORT.")
    try:
        shown = _certificate(parts.hostname, parts.port or _HTTPS_PORT)
    except (OSError, UnicodeError) as error:
        # The latter is said of names that cannot be looked up.
        raise _unanswered(url, str(error)) from None
    if not hmac.compare_digest(fingerprint(shown), expected.lower()):
        raise AccessRefused(
            f"{url} shows another certificate than the invitation names",
            "Ask at the centre for another invitation; if it stays so, somebody is in between.",
        )
    context = ssl.create_default_context(cadata=ssl.DER_cert_to_PEM_cert(shown))
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    # The certificate itself is known: under which name it is reached does not matter.
    context.check_hostname = False
    return context


def _certificate(host: str, port: int) -> bytes:
    # Only to look at the certificate: nothing is sent on this connection.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with (
        socket.create_connection((host, port), TIMEOUT_S) as plain,
        context.wrap_socket(plain, server_hostname=host) as secure,
    ):
        return secure.getpeercert(binary_form=True) or b""


def _unanswered(url: str, why: str) -> NodeNotRunning:
    return NodeNotRunning(f"The centre at {url} does not answer ({why})", "Check the address.")
