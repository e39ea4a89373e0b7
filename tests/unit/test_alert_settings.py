"""Channels in the configuration: complete, encrypted, and with secrets that nobody gets to see."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from catchment.config import load
from catchment.config.alerts import AppriseChannel, MailChannel, TelegramChannel, WebhookChannel, reveal
from catchment.errors import ConfigurationError
from tests.unit.conftest import RunCatchment

SECRET = "never-shown-to-anybody-0123"
TELEGRAM: dict[str, Any] = {"kind": "telegram", "token": SECRET, "chat_id": -10042}
MAIL = {"kind": "mail", "host": "mail.example", "sender": "node@oslo.example", "to": "team@oslo.example"}
WEBHOOK = {"kind": "webhook", "url": "https://hooks.example/alerts", "secret": SECRET}
APPRISE = {"kind": "apprise", "url": f"slack://{SECRET}"}


def write(path: Path, channel: dict[str, Any]) -> Path:
    path.write_text(yaml.safe_dump({"alerts": {"channels": {"ops": channel}}}))
    return path


def test_each_kind_is_taken(tmp_path: Path) -> None:
    kinds = {
        TelegramChannel: TELEGRAM,
        MailChannel: MAIL,
        WebhookChannel: WEBHOOK,
        AppriseChannel: APPRISE,
    }
    for model, channel in kinds.items():
        config = load(write(tmp_path / "catchment.yaml", channel), {})
        assert isinstance(config.alerts.channels["ops"], model)


def test_a_secret_comes_from_a_variable_or_from_a_file(tmp_path: Path) -> None:
    from_variable = write(tmp_path / "catchment.yaml", {**TELEGRAM, "token": "${BOT}"})
    channel = load(from_variable, {"BOT": SECRET}).alerts.channels["ops"]
    assert isinstance(channel, TelegramChannel)
    assert reveal(channel.token, channel.token_file) == SECRET
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n")
    assert reveal(None, file) == SECRET
    with pytest.raises(ConfigurationError, match="missing cannot be read"):
        reveal(None, tmp_path / "missing")


@pytest.mark.parametrize(
    ("channel", "said"),
    [
        ({"kind": "telegram", "chat_id": "42"}, "token is missing"),
        ({**TELEGRAM, "token_file": "token"}, "token and token_file are both set"),
        ({**TELEGRAM, "api_url": "http://telegram.example"}, "api_url is not encrypted"),
        ({**MAIL, "security": "none"}, "mail to mail.example would not be encrypted"),
        ({**MAIL, "user": "node"}, "password is missing"),
        ({**MAIL, "to": "team"}, "to: string should match"),
        ({**WEBHOOK, "url": "http://hooks.example/"}, "url is not encrypted"),
        ({**WEBHOOK, "url": "ftp://hooks.example/"}, "url is no address"),
        ({**WEBHOOK, "url": "https://me:pass@hooks.example/"}, "url has a name or password in it"),
        ({**WEBHOOK, "secret": "short"}, "secret is too short"),
        ({"kind": "apprise"}, "url is missing"),
        ({**TELEGRAM, "kind": "pigeon"}, "'telegram', 'mail', 'webhook', 'apprise'"),
        ({**TELEGRAM, "tokn": SECRET}, "alerts.channels.ops.telegram.tokn is not a setting"),
    ],
)
def test_a_wrong_channel_is_refused_without_telling_its_secrets(
    tmp_path: Path, channel: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load(write(tmp_path / "catchment.yaml", channel), {})
    assert said in str(refusal.value)
    for secret in (SECRET, "me:pass"):
        assert secret not in str(refusal.value)


def test_plain_text_to_this_machine_is_allowed(tmp_path: Path) -> None:
    for channel in (
        {**TELEGRAM, "api_url": "http://127.0.0.1:8081"},
        {**WEBHOOK, "url": "http://localhost:8080/alerts"},
        {**MAIL, "host": "::1", "security": "none"},
    ):
        load(write(tmp_path / "catchment.yaml", channel), {})


def test_the_port_of_a_mail_server_follows_its_encryption(tmp_path: Path) -> None:
    for given, port in (({}, 587), ({"security": "tls"}, 465), ({"port": 2525}, 2525)):
        channel = MailChannel.model_validate({**MAIL, **given})
        assert channel.port_in_use == port


@pytest.mark.parametrize("channel", [TELEGRAM, WEBHOOK, APPRISE, {**MAIL, "user": "u", "password": SECRET}])
def test_no_command_shows_a_secret(
    run_catchment: RunCatchment, tmp_path: Path, channel: dict[str, Any]
) -> None:
    file = write(tmp_path / "catchment.yaml", channel)
    for arguments in (["config", "show"], ["config", "show", "--json"], ["config", "check"]):
        shown = run_catchment("--config", str(file), *arguments)
        assert shown.returncode == 0
        assert SECRET not in shown.stdout + shown.stderr
