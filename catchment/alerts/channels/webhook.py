"""Signed requests, in the form of Standard Webhooks: docs/reference/alerts.md says how to verify them."""

import base64
import binascii
import hashlib
import hmac
import time

from catchment.alerts.channels import Letter
from catchment.alerts.channels.requests import open_client, post
from catchment.config.alerts import WebhookChannel, reveal
from catchment.errors import ConfigurationError

_ENCODED = "whsec_"
_SHORTEST_SECRET_BYTES = 18


class Webhook:
    """Posts alerts as JSON to one address."""

    def __init__(self, settings: WebhookChannel, timeout_s: float) -> None:
        self._secret = secret_bytes(reveal(settings.secret, settings.secret_file))
        self._url = settings.url
        self._client = open_client(settings.url, timeout_s, settings.ca_file)

    def send(self, letter: Letter) -> None:
        at_s = int(time.time())
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": letter.id,
            "webhook-id": letter.id,
            "webhook-timestamp": str(at_s),
            "webhook-signature": f"v1,{signature(self._secret, letter.id, at_s, letter.body)}",
        }
        post(self._client, self._url, letter.body, headers, "The webhook's server")

    def close(self) -> None:
        self._client.close()


def signature(secret: bytes, message_id: str, at_s: int, body: bytes) -> str:
    """Whoever has the secret can tell that id, time and body are what we sent."""
    signed = f"{message_id}.{at_s}.".encode() + body
    return base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode()


def secret_bytes(text: str) -> bytes:
    """The key behind a secret: its base64 after `whsec_`, or else the text itself."""
    try:
        secret = base64.b64decode(text.removeprefix(_ENCODED), validate=True)
    except binascii.Error:
        secret = b""
    secret = secret if text.startswith(_ENCODED) else text.encode()
    if len(secret) < _SHORTEST_SECRET_BYTES:
        raise ConfigurationError(
            "The secret of a webhook is too short, or no base64 after whsec_",
            "Use at least 24 random characters, or whsec_ and the base64 of at least 18 random bytes.",
        )
    return secret
