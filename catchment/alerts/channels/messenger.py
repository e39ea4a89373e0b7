"""Mail, and every messenger that Apprise knows."""

import logging
from collections.abc import Callable
from typing import Any

import apprise

from catchment.alerts.channels import Letter, Undelivered
from catchment.config.alerts import AppriseChannel, MailChannel, MailSecurity, reveal
from catchment.errors import ConfigurationError

_MODES = {MailSecurity.STARTTLS: "starttls", MailSecurity.TLS: "ssl", MailSecurity.NONE: "insecure"}
# What Apprise says is taken from the outcome: in a log it would be said twice.
_said = logging.getLogger("apprise")
_said.propagate = False
_said.addHandler(logging.NullHandler())


def open_messenger(settings: MailChannel | AppriseChannel, timeout_s: float) -> "Messenger":
    if isinstance(settings, MailChannel):
        password = reveal(settings.password, settings.password_file)
        return Messenger(lambda letter: _mail(settings, password, timeout_s, letter))
    service = _instantiate(reveal(settings.url, settings.url_file))
    service.socket_connect_timeout = service.socket_read_timeout = timeout_s
    return Messenger(lambda _: service)


class Messenger:
    """Sends through one service of Apprise, with one target."""

    def __init__(self, service_for: Callable[[Letter], apprise.NotifyBase]) -> None:
        self._service_for = service_for

    def send(self, letter: Letter) -> None:
        outbox = apprise.Apprise(asset=_asset())
        outbox.add(self._service_for(letter))
        result = outbox.notify(
            body=letter.text, title=letter.subject, body_format=apprise.NotifyFormat.TEXT, tag=None
        )
        if not result:
            said = [entry.message for entry in result.logs()]
            raise Undelivered("; ".join(said) or "it did not go through")

    def close(self) -> None:
        """Nothing is kept open."""


def _mail(settings: MailChannel, password: str, timeout_s: float, letter: Letter) -> apprise.NotifyBase:
    secure = settings.security is not MailSecurity.NONE
    return _instantiate(
        {
            "schema": "mailtos" if secure else "mailto",
            "host": settings.host,
            "smtp_host": settings.host,
            "port": settings.port_in_use,
            "secure": secure,
            "secure_mode": _MODES[settings.security],
            "user": settings.user,
            "password": password or None,
            "from_addr": settings.sender,
            "targets": [settings.to],
            "cto": timeout_s,
            # By this a mail that was sent twice can be told from two.
            "headers": {"X-Catchment-Message": letter.id},
        }
    )


def _instantiate(address: str | dict[str, Any]) -> apprise.NotifyBase:
    try:
        service = apprise.Apprise.instantiate(address, asset=_asset())
    except TypeError:
        service = None
    if service is None:
        raise ConfigurationError(
            "Apprise cannot make anything of a channel's address", "Check it against Apprise's own manual."
        )
    return service


def _asset() -> apprise.AppriseAsset:
    return apprise.AppriseAsset(app_id="Catchment", app_desc="Catchment", storage_mode="memory")
