"""As whom a consumer signs in to Kafka, and what its groups are called there."""

from typing import Any

from catchment.config import Config
from catchment.errors import ConfigurationError
from catchment.kafka.access import groups_of
from catchment.kafka.clients import client_settings
from catchment.kafka.parties import Party
from catchment.security.authority import Authority
from catchment.security.consumers import PARTY_PREFIX, Consumers


def name_of(consumer: str | None) -> str:
    """The name of a registered consumer, or that of the operator."""
    return consumer or Party.OPERATOR.value


def sign_in_settings(config: Config, consumer: str | None) -> dict[str, Any]:
    """What librdkafka needs to sign in as a registered consumer, or as the operator."""
    settings = client_settings(config, Party.OPERATOR)
    if consumer is None:
        return settings
    check_embedded(config)
    Consumers(config.paths.consumers).check(consumer)
    identity = Authority(config.paths.identities, config.hostnames).files_of(PARTY_PREFIX + consumer)
    return {
        **settings,
        "ssl.certificate.location": str(identity.certificate_file),
        "ssl.key.location": str(identity.key_file),
    }


def group_at_kafka(config: Config, consumer: str | None) -> str:
    """A group's full name: on our own broker it begins with its owner's, who has rights on no other."""
    if not config.kafka.embedded:
        return config.consume.group
    return groups_of(name_of(consumer)) + config.consume.group


def check_embedded(config: Config) -> None:
    """Refuses to deal with consumers of our own authority on a cluster that does not know it."""
    if not config.kafka.embedded:
        raise ConfigurationError(
            "kafka.bootstrap_servers names a cluster whose owner gives identities",
            "Sign in with those of kafka.tls, without naming a consumer.",
        )
