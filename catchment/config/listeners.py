"""What can be set of a gateway's listeners beside TCP: HTTP, MQTT, adapters of one's own, and limits."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, ConfigDict, Field, field_validator, model_validator

from catchment.config.section import Port, Section
from catchment.errors import InvalidRecord
from catchment.records import check_stream

TOPIC_PLACE = "{topic}"
_FILTER = re.compile(r"#|(?:\+|[^+#/]*)(?:/(?:\+|[^+#/]*))*(?:/#)?")
_THIS_MACHINE = frozenset({"127.0.0.1", "::1", "localhost"})


class LimitSettings(Section):
    """What one provider may ask of the gateway, so that it costs nobody but itself."""

    max_records_per_s: int | None = Field(
        None,
        ge=1,
        description="Records a second of each provider; HTTP refuses more, other listeners make it wait.",
    )
    max_connections: int = Field(
        10_000, ge=1, description="Connections that each listener holds open at the same time."
    )
    max_connections_per_provider: int = Field(
        6_000, ge=1, description="Of these, how many may be one provider's."
    )


class HttpSettings(Section):
    """The listener for messages in HTTP requests, on `gateway.host`."""

    enabled: bool = Field(True, description="Whether the gateway listens for HTTP at all.")
    port: Port = Field(8993, description="Port for HTTP (TLS with client certificates).")
    max_body_bytes: int = Field(
        2_000_000, ge=1, le=100_000_000, description="Largest body of a request; a larger one is refused."
    )
    max_requests_per_provider: int = Field(
        64,
        ge=1,
        description="Requests of one provider that may be under way at the same time.",
    )
    body_timeout_s: float = Field(
        30, gt=0, description="A body that has not come whole after so long is refused."
    )
    idle_timeout_s: float = Field(
        75, gt=0, description="A connection on which no request has begun for so long is closed."
    )


class MqttProtocol(StrEnum):
    """The versions of MQTT that are spoken."""

    V311 = "3.1.1"
    V5 = "5"


class MqttSettings(Section):
    """The broker of devices that speak MQTT, to which the gateway subscribes. No such section, no MQTT."""

    host: str = Field(description="Name or address of the MQTT broker.")
    port: Port = Field(8883, description="Its port.")
    # As YAML reads it, 5 is a number.
    protocol: Annotated[MqttProtocol, BeforeValidator(str)] = Field(
        MqttProtocol.V5, description="Version of MQTT to speak."
    )
    client_id: str | None = Field(
        None,
        min_length=1,
        max_length=100,
        description="Name of the session at the broker; by default `catchment-<site>-<gateway>`.",
    )
    subscriptions: dict[str, str] = Field(
        min_length=1,
        description="Which topics are read, and their streams: filters such as `plant/#`, each with a name in"
        " which `{topic}` stands for the topic.",
    )
    tls: bool = Field(
        True, description="Encryption. `false` is taken for a broker on this machine alone (127.0.0.1, ::1)."
    )
    ca_file: Path | None = Field(
        None,
        description="The authority of the broker's certificate; by default those the system trusts.",
    )
    certificate_file: Path | None = Field(
        None, description="The certificate that is shown to the broker; needs `gateway.mqtt.key_file`."
    )
    key_file: Path | None = Field(
        None, description="The private key of that certificate, unencrypted PEM (mode 0600)."
    )
    username: str | None = Field(None, description="Name to sign in with, where the broker wants one.")
    password_file: Path | None = Field(
        None, description="A file (mode 0600) with the password; needs `gateway.mqtt.username`."
    )
    keepalive_s: int = Field(
        30,
        ge=1,
        le=65_535,
        description="After so long without a word the broker is asked if it is there.",
    )
    session_expiry_s: int = Field(
        604_800,
        ge=0,
        le=4_294_967_295,
        description="How long an MQTT 5 broker keeps messages for a gateway that is away.",
    )
    max_unacknowledged: int = Field(
        1_000, ge=1, le=65_535, description="Messages that may be under way between broker and spool."
    )
    reconnect_max_s: int = Field(
        60, ge=1, description="Longest pause before the broker is tried again; it begins with one second."
    )

    @field_validator("subscriptions")
    @classmethod
    def _filters_and_streams_are_valid(cls, subscriptions: dict[str, str]) -> dict[str, str]:
        for topic_filter, template in subscriptions.items():
            if not _FILTER.fullmatch(topic_filter):
                raise ValueError(
                    f"{topic_filter!r} is not a filter of topics, such as plant/+/state or plant/#"
                )
            try:
                check_stream(template.replace(TOPIC_PLACE, "topic"))
            except InvalidRecord as error:
                raise ValueError(f"{error.happened}. {error.remedy}") from None
        return subscriptions

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        if not self.tls and self.host not in _THIS_MACHINE:
            raise ValueError("gateway.mqtt.tls may be false only for a broker on this machine")
        if (self.certificate_file is None) != (self.key_file is None):
            raise ValueError("set gateway.mqtt.certificate_file and gateway.mqtt.key_file together")
        if self.password_file and not self.username:
            raise ValueError("gateway.mqtt.password_file needs gateway.mqtt.username")
        return self


class AdapterSettings(Section):
    """A listener of one's own; see docs/how-to/write-an-adapter.md."""

    model_config = ConfigDict(serialize_by_alias=True)

    class_: str = Field(
        alias="class",
        pattern=r"^[\w.]+:\w+$",
        description="The class, as `package.module:Class`, where the gateway's Python can import it.",
    )
    settings: dict[str, Any] = Field(
        default_factory=dict, description="Handed to the class as it stands here."
    )
