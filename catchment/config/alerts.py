"""What can be set of alerts: the channels on which people are told."""

from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Discriminator, Field, SecretStr, model_validator

from catchment.config.section import Name, Port, Section
from catchment.errors import ConfigurationError


def is_loopback(host: str | None) -> bool:
    """Whether a host is this machine itself, to which even plain text is safe."""
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False


def _check_address(key: str, url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise ValueError(f"{key} is no address to send to: write one like https://host/path")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError(f"{key} is not encrypted: write https://, only this machine itself may do without")
    if parts.username or parts.password:
        raise ValueError(f"{key} has a name or password in it, which would be seen in logs: leave it out")


class _Secret(Section):
    """Either in the file (from a variable, as `${NAME}`) or in a file of its own."""

    @classmethod
    def _one_of(cls, name: str, value: SecretStr | None, file: Path | None, needed: bool = True) -> None:
        if value is not None and file is not None:
            raise ValueError(f"{name} and {name}_file are both set: leave one of them out")
        if needed and value is None and file is None:
            raise ValueError(f"{name} is missing: set it as ${{VARIABLE}}, or set {name}_file")


def reveal(value: SecretStr | None, file: Path | None) -> str:
    """A secret, for whoever sends with it."""
    if file is None:
        return value.get_secret_value() if value else ""
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigurationError(
            f"{file} cannot be read: {reason}", "Name a file that exists and that this user may read."
        ) from None


class TelegramChannel(_Secret):
    """Messages of a Telegram bot to one chat."""

    kind: Literal["telegram"] = Field(description="`telegram`")
    token: SecretStr | None = Field(None, description="The bot's token; write `${VARIABLE}`.")
    token_file: Path | None = Field(None, description="Instead: a file that holds the token.")
    chat_id: str = Field(
        min_length=1,
        max_length=100,
        coerce_numbers_to_str=True,
        description="The chat that the bot writes to.",
    )
    api_url: str = Field("https://api.telegram.org", description="Where the Bot API is.")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        self._one_of("token", self.token, self.token_file)
        _check_address("api_url", self.api_url)
        return self


class MailSecurity(StrEnum):
    """How the connection to a mail server is encrypted."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


_MAIL_PORTS = {MailSecurity.STARTTLS: 587, MailSecurity.TLS: 465, MailSecurity.NONE: 25}
Address = Annotated[str, Field(pattern=r"^[^@\s<>,;]+@[^@\s<>,;]+$", max_length=254)]


class MailChannel(_Secret):
    """Mail to one address; a list of a mail server reaches several."""

    kind: Literal["mail"] = Field(description="`mail`")
    host: str = Field(description="The mail server.")
    port: Port | None = Field(None, description="By default 587, 465 with `tls`, 25 with `none`.")
    security: MailSecurity = Field(
        MailSecurity.STARTTLS, description="`none` is for a server on this machine alone."
    )
    user: str | None = Field(None, description="Who signs in to the server; nobody if it is not set.")
    password: SecretStr | None = Field(None, description="The password; write `${VARIABLE}`.")
    password_file: Path | None = Field(None, description="Instead: a file that holds the password.")
    sender: Address = Field(description="The address that the mail comes from.")
    to: Address = Field(description="The address that it goes to.")

    @property
    def port_in_use(self) -> int:
        return self.port or _MAIL_PORTS[self.security]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        self._one_of("password", self.password, self.password_file, needed=self.user is not None)
        if self.security is MailSecurity.NONE and not is_loopback(self.host):
            raise ValueError(f"mail to {self.host} would not be encrypted: set security to starttls or tls")
        return self


class WebhookChannel(_Secret):
    """Signed requests to a web server of one's own."""

    kind: Literal["webhook"] = Field(description="`webhook`")
    url: str = Field(description="Where to send to: https, or http on this machine.")
    secret: SecretStr | None = Field(
        None, description="What requests are signed with; write `${VARIABLE}`. At least 24 characters."
    )
    secret_file: Path | None = Field(None, description="Instead: a file that holds the secret.")
    ca_file: Path | None = Field(
        None, description="Authority of that server; the system's authorities if it is not set."
    )

    @model_validator(mode="after")
    def _complete(self) -> Self:
        self._one_of("secret", self.secret, self.secret_file)
        _check_address("url", self.url)
        if self.secret and len(self.secret.get_secret_value()) < 24:
            raise ValueError("secret is too short to sign with: use at least 24 random characters")
        return self


class AppriseChannel(_Secret):
    """Any messenger that Apprise knows, by its address there."""

    kind: Literal["apprise"] = Field(description="`apprise`")
    url: SecretStr | None = Field(None, description="Apprise's address, with one target; `${VARIABLE}`.")
    url_file: Path | None = Field(None, description="Instead: a file that holds the address.")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        self._one_of("url", self.url, self.url_file)
        return self


CHANNEL_KINDS = (TelegramChannel, MailChannel, WebhookChannel, AppriseChannel)
Channel = Annotated[TelegramChannel | MailChannel | WebhookChannel | AppriseChannel, Discriminator("kind")]


class AlertsSettings(Section):
    """How people are told when the state of a sensor under a rule changes."""

    channels: dict[Name, Channel] = Field(
        default_factory=dict, description="Where alerts are sent to, by the name that rules call it."
    )
    timeout_s: float = Field(20, gt=0, le=600, description="How long a channel may take to answer.")
    retry_first_s: float = Field(
        1, gt=0, le=3600, description="Pause before a message that did not go through is sent again."
    )
    retry_max_s: float = Field(
        300, gt=0, le=86_400, description="The pause doubles up to this. There is no last attempt."
    )
