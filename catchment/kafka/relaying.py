"""Rights for relaying, beyond the tables: topics come from an allow-list, centres from a register."""

from collections.abc import Iterator

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from catchment.config import Config
from catchment.kafka.parties import Party
from catchment.security.centres import PARTY_PREFIX, Centres

TRANSACTION_PREFIX = "relay-"
CENTRE_PRINCIPAL_PREFIX = f"User:{PARTY_PREFIX}"

_READS = (AclOperation.READ, AclOperation.DESCRIBE_CONFIGS)
_WRITES = (AclOperation.WRITE, AclOperation.CREATE, AclOperation.ALTER)


def relay_entries(config: Config) -> Iterator[AclBinding]:
    """Rights of this node's own relay, and of the centres that may relay from here."""
    yield _entry(
        Party.RELAY.principal, AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, f"{TRANSACTION_PREFIX}*"
    )
    for operation in _WRITES:
        for pattern in config.relay.allow:
            yield _entry(Party.RELAY.principal, operation, ResourceType.TOPIC, pattern)
    for name in Centres(config.paths.centres).names():
        yield from _invitation(config, CENTRE_PRINCIPAL_PREFIX + name)


def _invitation(config: Config, principal: str) -> Iterator[AclBinding]:
    yield _entry(principal, AclOperation.DESCRIBE, ResourceType.GROUP, Party.RELAY.group)
    for operation in _READS:
        for pattern in config.relay.allow:
            yield _entry(principal, operation, ResourceType.TOPIC, pattern)


def _entry(principal: str, operation: AclOperation, resource: ResourceType, pattern: str) -> AclBinding:
    kind = ResourcePatternType.PREFIXED if pattern.endswith("*") else ResourcePatternType.LITERAL
    return AclBinding(
        resource, pattern.removesuffix("*"), kind, principal, "*", operation, AclPermissionType.ALLOW
    )
