"""Telegram's Bot API. Not through Apprise, which knows one address of it only and makes HTML of words."""

import orjson

from catchment.alerts.channels import Letter
from catchment.alerts.channels.requests import open_client, post
from catchment.config.alerts import TelegramChannel, reveal

MAX_CHARACTERS = 4096


class Telegram:
    """Writes to one chat as a bot."""

    def __init__(self, settings: TelegramChannel, timeout_s: float) -> None:
        token = reveal(settings.token, settings.token_file)
        self._url = f"{settings.api_url.rstrip('/')}/bot{token}/sendMessage"
        self._chat_id = settings.chat_id
        self._client = open_client(settings.api_url, timeout_s)

    def send(self, letter: Letter) -> None:
        # No parse mode: nothing in a sensor's name can become markup.
        text = letter.text if len(letter.text) <= MAX_CHARACTERS else f"{letter.text[: MAX_CHARACTERS - 1]}…"
        message = {"chat_id": self._chat_id, "text": text, "link_preview_options": {"is_disabled": True}}
        headers = {"Content-Type": "application/json"}
        post(self._client, self._url, orjson.dumps(message), headers, "Telegram")

    def close(self) -> None:
        self._client.close()
