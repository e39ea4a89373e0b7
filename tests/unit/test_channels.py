"""Channels: what is sent, how it is signed, and what counts as delivered."""

import base64
import hashlib
import hmac
import json
import logging
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from catchment.alerts.channels import Letter, Sender, Undelivered, open_channel
from catchment.alerts.channels.webhook import secret_bytes
from catchment.config.alerts import AppriseChannel, MailChannel, TelegramChannel, WebhookChannel
from catchment.errors import ConfigurationError
from catchment.security.authority import Authority
from tests.conftest import free_ports
from tests.receivers import MailReceiver, TelegramReceiver, WebReceiver
from tests.unit.conftest import RunCatchment

TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"
SECRET = "a-secret-of-more-than-24-characters"
LETTER = Letter(
    "oslo/oslo/oven-3/too-hot/1/raised", "Alert: Oven 3", "Oven 3 <b>is</b> hot: 83 °C", b'{"a":1}'
)


@pytest.fixture
def web() -> Iterator[WebReceiver]:
    receiver = WebReceiver(free_ports(1)[0])
    with receiver.open():
        yield receiver


@pytest.fixture
def telegram() -> Iterator[TelegramReceiver]:
    receiver = TelegramReceiver(free_ports(1)[0], TOKEN)
    with receiver.open():
        yield receiver


def telegram_channel(url: str, timeout_s: float = 5) -> Sender:
    values = {"kind": "telegram", "token": TOKEN, "chat_id": "42", "api_url": url}
    return open_channel(TelegramChannel.model_validate(values), timeout_s)


def webhook_channel(url: str, **settings: Any) -> Sender:
    values = {"kind": "webhook", "url": url, "secret": SECRET, **settings}
    return open_channel(WebhookChannel.model_validate(values), 5)


def send(sender: Sender, letter: Letter = LETTER) -> None:
    try:
        sender.send(letter)
    finally:
        sender.close()


def test_telegram_gets_plain_text_for_its_chat(telegram: TelegramReceiver) -> None:
    send(telegram_channel(telegram.url))
    sent = json.loads(telegram.requests[0].body)
    assert telegram.texts == [LETTER.text]
    assert sent["chat_id"] == "42"
    assert "parse_mode" not in sent


def test_what_is_too_long_for_telegram_is_cut(telegram: TelegramReceiver) -> None:
    send(telegram_channel(telegram.url), Letter("id", "subject", "x" * 5000, b""))
    assert telegram.texts == ["x" * 4095 + "…"]


def test_a_refusal_says_why_and_when_to_come_again(telegram: TelegramReceiver) -> None:
    telegram.status, telegram.answer = 429, {"ok": False, "description": "Too Many Requests"}
    telegram.answer_headers = {"Retry-After": "7"}
    with pytest.raises(Undelivered, match=r"Telegram answered 429: .*Too Many Requests") as refusal:
        send(telegram_channel(telegram.url))
    assert refusal.value.retry_after_s == 7
    assert not refusal.value.in_doubt


def test_a_server_that_is_away_got_nothing_and_no_message_or_log_holds_the_token(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING), pytest.raises(Undelivered, match="does not answer") as refusal:
        send(telegram_channel(f"http://127.0.0.1:{free_ports(1)[0]}"))
    assert not refusal.value.in_doubt
    assert TOKEN not in str(refusal.value) + caplog.text


def test_a_request_that_nobody_answers_is_in_doubt() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(Undelivered) as refusal:
        send(telegram_channel(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_s=0.2))
    assert refusal.value.in_doubt


def test_a_webhook_is_signed_so_that_its_receiver_can_verify_it(web: WebReceiver) -> None:
    send(webhook_channel(f"{web.url}/alerts"))
    request = web.requests[0]
    message_id, timestamp = request.headers["webhook-id"], request.headers["webhook-timestamp"]
    version, _, shown = request.headers["webhook-signature"].partition(",")
    signed = b".".join([message_id.encode(), timestamp.encode(), request.body])
    assert version == "v1"
    assert base64.b64decode(shown) == hmac.digest(SECRET.encode(), signed, hashlib.sha256)
    assert abs(int(timestamp) - time.time()) < 60
    assert request.path == "/alerts"
    assert request.body == LETTER.body
    assert message_id == request.headers["idempotency-key"] == LETTER.id


def test_a_secret_may_be_written_as_standard_webhooks_write_it() -> None:
    key = bytes(range(24))
    assert secret_bytes(f"whsec_{base64.b64encode(key).decode()}") == key
    assert secret_bytes(SECRET) == SECRET.encode()
    for wrong in ("short", "whsec_!", "whsec_c2hvcnQ="):
        with pytest.raises(ConfigurationError, match="too short"):
            secret_bytes(wrong)


def test_a_server_with_an_authority_of_its_own_is_checked_against_it(tmp_path: Path) -> None:
    (tmp_path / "ca.crt").write_text("no certificate")
    for file in ("missing.crt", "ca.crt"):
        with pytest.raises(ConfigurationError, match=rf"{file} cannot be used"):
            webhook_channel("https://localhost/", ca_file=tmp_path / file)
    receiver = WebReceiver(free_ports(1)[0])
    url = f"https://localhost:{receiver.port}/"
    with receiver.open(Authority(tmp_path / "own", []).identity("api")):
        send(webhook_channel(url, ca_file=tmp_path / "own" / "ca.crt"))
        with pytest.raises(Undelivered, match="ConnectError"):
            send(webhook_channel(url))
    assert [request.body for request in receiver.requests] == [LETTER.body]


@pytest.mark.parametrize("status", [302, 400, 500])
def test_only_success_is_a_delivery(web: WebReceiver, status: int) -> None:
    web.status = status
    web.answer_headers = {"Location": f"{web.url}/elsewhere"}
    with pytest.raises(Undelivered, match=f"answered {status}"):
        send(webhook_channel(web.url))
    assert len(web.requests) == 1


def test_mail_has_subject_text_and_a_mark_to_tell_repeats_by() -> None:
    receiver = MailReceiver(free_ports(1)[0])
    with receiver.open():
        send(mail_channel(receiver.port))
    mail = receiver.mails[0]
    assert receiver.texts == [LETTER.text]
    assert (mail["Subject"], mail["X-Catchment-Message"]) == (LETTER.subject, LETTER.id)
    assert ("node@oslo.example" in mail["From"], "team@oslo.example" in mail["To"]) == (True, True)


def test_a_mail_server_that_is_away_got_nothing() -> None:
    with pytest.raises(Undelivered, match=r"127\.0\.0\.1"):
        send(mail_channel(free_ports(1)[0]))


def mail_channel(port: int) -> Sender:
    addresses = {"sender": "node@oslo.example", "to": "team@oslo.example"}
    values = {"kind": "mail", "host": "127.0.0.1", "port": port, "security": "none", **addresses}
    return open_channel(MailChannel.model_validate(values), 5)


def test_other_messengers_are_reached_by_their_address_in_apprise(web: WebReceiver) -> None:
    channel = AppriseChannel.model_validate({"kind": "apprise", "url": f"json://127.0.0.1:{web.port}/hook"})
    send(open_channel(channel, 5))
    assert json.loads(web.requests[0].body)["message"] == LETTER.text


def test_an_address_that_apprise_does_not_know_is_refused_without_being_shown() -> None:
    channel = AppriseChannel.model_validate({"kind": "apprise", "url": "pigeon://secret-loft"})
    with pytest.raises(ConfigurationError) as refusal:
        open_channel(channel, 5)
    assert "secret-loft" not in str(refusal.value)


def test_a_channel_is_tried_out_from_the_command_line(
    run_catchment: RunCatchment, telegram: TelegramReceiver, tmp_path: Path
) -> None:
    file = tmp_path / "catchment.yaml"
    channel = {"kind": "telegram", "token": "${BOT}", "chat_id": "42", "api_url": telegram.url}
    file.write_text(json.dumps({"site": "oslo", "alerts": {"channels": {"phone": channel}}}))
    tried = run_catchment("--config", str(file), "alerts", "test", "phone", environment={"BOT": TOKEN})
    assert (tried.returncode, tried.stderr) == (0, "")
    assert telegram.texts == [
        "This is a test of the channel phone by Catchment at oslo. Nothing has happened."
    ]
    telegram.status = 401
    refused = run_catchment("--config", str(file), "alerts", "test", "phone", environment={"BOT": TOKEN})
    assert refused.returncode == 1
    assert "Telegram answered 401" in refused.stderr
    assert TOKEN not in refused.stderr
    unknown = run_catchment("--config", str(file), "alerts", "test", "fax", environment={"BOT": TOKEN})
    assert unknown.returncode == 2
    assert "there are: phone" in unknown.stderr
