"""Who may do what on the embedded broker: exactly what each party needs, and nothing else."""

import time
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
from catchment.config.relay import RELAYED_KINDS
from catchment.errors import BrokerUnavailable
from catchment.kafka.clients import REQUEST_TIMEOUT_S, admin
from catchment.kafka.failures import outcome
from catchment.kafka.parties import Party
from catchment.kafka.relaying import CENTRE_PRINCIPAL_PREFIX, relay_entries
from catchment.records import Kind
from catchment.security.consumers import PARTY_PREFIX, Consumers, Grant

SUPER_USERS = (Party.ADMIN, Party.BROKER)
# What people declare: registered, mapped and ruled through the API, its only writer.
DECLARED = (
    Kind.DEVICES,
    Kind.SENSORS,
    Kind.SENSOR_TYPES,
    Kind.SCHEMAS,
    Kind.MAPPINGS,
    Kind.RULES,
    Kind.TWIN_TYPES,
    Kind.TWIN_FEEDS,
    Kind.QUERIES,
)
# How far a part is: nobody's business but its own.
POSITIONS = (Kind.RELAYED, Kind.NOTIFIED)
WRITES: dict[Party, tuple[Kind, ...]] = {
    Party.GATEWAY: (Kind.RECORDS, Kind.MARKS, Kind.DEADLETTER),
    Party.PIPELINE: (
        Kind.LEDGER,
        Kind.DEADLETTER,
        Kind.MEASUREMENTS,
        Kind.SEEN_SENSORS,
        Kind.EVENTS,
        Kind.HOPS,
        Kind.TWIN_CHANGES,
        Kind.TWINS,
        Kind.TWIN_HISTORY,
        Kind.TWIN_OUTCOMES,
        Kind.RESULTS,
        Kind.TICKS,
    ),
    # It keeps the ledger in memory anyway, and says about once a second what stands in it.
    Party.API: (
        Kind.HOPS,
        Kind.REPLAYS,
        Kind.TWIN_MESSAGES,
        Kind.TWIN_VIEWS,
        Kind.AUDIT,
        Kind.ACKNOWLEDGEMENTS,
        Kind.GAPS,
        *DECLARED,
    ),
    # The API as well, and only when it sends a dead letter again: back to where it came from.
    Party.REPLAYER: (Kind.RECORDS, Kind.MEASUREMENTS, Kind.EVENTS, Kind.TWIN_MESSAGES, Kind.TWIN_CHANGES),
    Party.RELAY: (*RELAYED_KINDS, Kind.RELAYED),
    Party.NOTIFIER: (Kind.ALERTS, Kind.DELIVERIES, Kind.NOTIFIED, Kind.DEADLETTER),
}
READS: dict[Party, tuple[Kind, ...]] = {
    # It reads back what it has sent, to be sure of it and to go on without repeating after a crash.
    Party.GATEWAY: (Kind.RECORDS,),
    # All that it makes tables and results of; the ledger too: the pipeline measures its own delay there.
    Party.PIPELINE: tuple(kind for kind in Kind if kind not in (Kind.MARKS, *POSITIONS)),
    Party.API: tuple(kind for kind in Kind if kind not in (Kind.RECORDS, *POSITIONS)),
    Party.RELAY: (Kind.RELAYED,),
    Party.REPLAYER: (),
    Party.NOTIFIER: (
        Kind.EVENTS,
        Kind.ALERTS,
        Kind.DELIVERIES,
        Kind.NOTIFIED,
        Kind.DEVICES,
        Kind.SENSORS,
        Kind.SENSOR_TYPES,
        Kind.SCHEMAS,
        Kind.RULES,
    ),
    Party.OPERATOR: tuple(kind for kind in Kind if kind not in POSITIONS),
}
# librdkafka looks for the coordinator of its group even when partitions are assigned by hand, as all of
# ours are: finding it is allowed, joining the group and committing to it are not.
SEES_ITS_GROUP = tuple(READS)
# What the ids of the notifier's transactions begin with.
NOTIFIER_TRANSACTIONS = "notify-"


def ensure_access(config: Config) -> int:
    """Makes Kafka's access lists match the tables, and says how many entries that changed.

    Only for the embedded broker: on an existing cluster its owner decides. Entries of principals that
    are not ours are left alone.
    """
    client = admin(config)
    consumers = Consumers(config.paths.consumers).grants()
    wanted, present = {*entries(), *consumer_entries(consumers), *relay_entries(config)}, _present(client)
    missing, surplus = list(wanted - present), [filter_for(entry) for entry in present - wanted]
    if missing:
        for created in client.create_acls(missing).values():
            outcome("Granting access", created)
    if surplus:
        for removed in client.delete_acls(surplus).values():
            outcome("Withdrawing access", removed)
    _wait_until_effective(client, wanted)
    return len(missing) + len(surplus)


def _wait_until_effective(client: AdminClient, wanted: set[AclBinding]) -> None:
    """The controller answers before the broker has heard of a right, and refuses until then."""
    deadline_s = time.monotonic() + REQUEST_TIMEOUT_S
    while _present(client) != wanted:
        if time.monotonic() >= deadline_s:
            raise BrokerUnavailable("New access rights did not take effect", "Look at the brokers' logs.")
        time.sleep(0.05)


def entries() -> Iterator[AclBinding]:
    """The tables as Kafka's access lists."""
    for operation, table in ((AclOperation.READ, READS), (AclOperation.WRITE, WRITES)):
        for party, kinds in table.items():
            for kind in kinds:
                yield _entry(party.principal, operation, ResourceType.TOPIC, kind.topic)
    for party in SEES_ITS_GROUP:
        yield _entry(party.principal, AclOperation.DESCRIBE, ResourceType.GROUP, party.group)
    yield from _group_entries(Party.OPERATOR.principal, Party.OPERATOR)
    yield _entry(
        Party.NOTIFIER.principal,
        AclOperation.WRITE,
        ResourceType.TRANSACTIONAL_ID,
        NOTIFIER_TRANSACTIONS,
        ResourcePatternType.PREFIXED,
    )


def consumer_entries(consumers: dict[str, Grant]) -> Iterator[AclBinding]:
    """What registered consumers may do: read their topics, and use groups of their own."""
    for name, grant in consumers.items():
        principal = f"User:{PARTY_PREFIX}{name}"
        for kind in grant.topics:
            yield _entry(principal, AclOperation.READ, ResourceType.TOPIC, kind.topic)
        yield from _group_entries(principal, name)


def groups_of(name: str) -> str:
    """What the names of all groups of a consumer begin with; no name can contain the stroke."""
    return f"{name}/"


def _group_entries(principal: str, name: str) -> Iterator[AclBinding]:
    # Where a share group starts, and its time-out, are settings of the group and not of its members.
    for operation in (AclOperation.READ, AclOperation.ALTER_CONFIGS):
        yield _entry(principal, operation, ResourceType.GROUP, groups_of(name), ResourcePatternType.PREFIXED)


def _entry(
    principal: str,
    operation: AclOperation,
    resource: ResourceType,
    name: str,
    pattern: ResourcePatternType = ResourcePatternType.LITERAL,
) -> AclBinding:
    return AclBinding(resource, name, pattern, principal, "*", operation, AclPermissionType.ALLOW)


def _present(client: AdminClient) -> set[AclBinding]:
    ours = {party.principal for party in Party}
    present = outcome("Reading the access lists", client.describe_acls(_everything()))
    registered = (f"User:{PARTY_PREFIX}", CENTRE_PRINCIPAL_PREFIX)
    return {entry for entry in present if entry.principal in ours or entry.principal.startswith(registered)}


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
