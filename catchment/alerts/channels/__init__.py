"""Where alerts are sent to: one small class a kind, each with `send`, which returns or raises Undelivered."""

from dataclasses import dataclass
from typing import Protocol

from catchment.config.alerts import AppriseChannel, Channel, MailChannel, TelegramChannel, WebhookChannel


@dataclass(frozen=True)
class Letter:
    """What is sent: words for people, and for programs the alert itself."""

    id: str
    subject: str
    text: str
    body: bytes


class Undelivered(Exception):
    """The message did not go through; `in_doubt`: or it did, and nobody said so."""

    def __init__(self, reason: str, retry_after_s: float = 0, in_doubt: bool = False) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s
        self.in_doubt = in_doubt


class Sender(Protocol):
    """A channel that is ready to send."""

    def send(self, letter: Letter) -> None: ...

    def close(self) -> None: ...


def open_channel(settings: Channel, timeout_s: float) -> Sender:
    """A channel of whichever kind; Apprise is loaded only by those that need it."""
    match settings:
        case TelegramChannel():
            from catchment.alerts.channels.telegram import Telegram

            return Telegram(settings, timeout_s)
        case WebhookChannel():
            from catchment.alerts.channels.webhook import Webhook

            return Webhook(settings, timeout_s)
        case MailChannel() | AppriseChannel():
            from catchment.alerts.channels.messenger import open_messenger

            return open_messenger(settings, timeout_s)
