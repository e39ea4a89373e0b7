"""Who may do what on the embedded broker: exactly what each party needs, and nothing else."""

from collections.abc import Iterator
from typing import Any

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from catchment.config import Config
from catchment.kafka.clients import admin
from catchment.kafka.failures import outcome
from catchment.kafka.parties import Party
from catchment.records import Kind

SUPER_USERS = (Party.ADMIN, Party.BROKER)
WRITES: dict[Party, tuple[Kind, ...]] = {
    Party.GATEWAY: (Kind.RECORDS, Kind.MARKS, Kind.DEADLETTER),
    Party.PIPELINE: (Kind.LEDGER, Kind.DEADLETTER),
}
READS: dict[Party, tuple[Kind, ...]] = {
    # The ledger too: the pipeline measures its own delay there.
    Party.PIPELINE: (Kind.RECORDS, Kind.LEDGER),
    Party.API: (Kind.MARKS, Kind.LEDGER, Kind.DEADLETTER),
    Party.OPERATOR: (Kind.RECORDS, Kind.MARKS, Kind.LEDGER, Kind.DEADLETTER),
}
# librdkafka looks for the coordinator of its group even when partitions are assigned by hand, as all of
# ours are: finding it is allowed, joining the group and committing to it are not.
SEES_ITS_GROUP = tuple(READS)


def ensure_access(config: Config) -> int:
    """Makes Kafka's access lists match the tables, and says how many entries that changed.

    Only for the embedded broker: on an existing cluster its owner decides. Entries of principals that
    are not ours are left alone.
    """
    client = admin(config)
    wanted, present = set(entries()), _present(client)
    missing, surplus = list(wanted - present), [filter_for(entry) for entry in present - wanted]
    if missing:
        for created in client.create_acls(missing).values():
            outcome("Granting access", created)
    if surplus:
        for removed in client.delete_acls(surplus).values():
            outcome("Withdrawing access", removed)
    return len(missing) + len(surplus)


def entries() -> Iterator[AclBinding]:
    """The tables as Kafka's access lists."""
    for operation, table in ((AclOperation.READ, READS), (AclOperation.WRITE, WRITES)):
        for party, kinds in table.items():
            for kind in kinds:
                yield _entry(party, operation, ResourceType.TOPIC, kind.topic)
    for party in SEES_ITS_GROUP:
        yield _entry(party, AclOperation.DESCRIBE, ResourceType.GROUP, party.group)


def _entry(party: Party, operation: AclOperation, resource: ResourceType, name: str) -> AclBinding:
    literal, allow = ResourcePatternType.LITERAL, AclPermissionType.ALLOW
    return AclBinding(resource, name, literal, party.principal, "*", operation, allow)


def _present(client: AdminClient) -> set[AclBinding]:
    ours = {party.principal for party in Party}
    present = outcome("Reading the access lists", client.describe_acls(_everything()))
    return {entry for entry in present if entry.principal in ours}


def _everything() -> AclBindingFilter:
    # None matches any text, which the library's types do not say.
    anything: Any = None
    return AclBindingFilter(
        ResourceType.ANY,
        anything,
        ResourcePatternType.ANY,
        anything,
        anything,
        AclOperation.ANY,
        AclPermissionType.ANY,
    )


def filter_for(entry: AclBinding) -> AclBindingFilter:
    """What matches this entry and no other."""
    return AclBindingFilter(
        entry.restype,
        entry.name,
        entry.resource_pattern_type,
        entry.principal,
        entry.host,
        entry.operation,
        entry.permission_type,
    )
