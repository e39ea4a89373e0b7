"""The table of topics, and how a cluster is made to match it."""

import time
from dataclasses import dataclass, replace

from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from catchment.config import Config
from catchment.errors import BrokerUnavailable, ConfigurationError
from catchment.kafka.clients import MAX_RECORD_BYTES, REQUEST_TIMEOUT_S, admin
from catchment.kafka.failures import explain, outcome
from catchment.records import Kind

HOUR_MS = 3_600_000
FLUSH_MS = 1_000
MIB = 1 << 20
_NO_LIMIT_MS = 2**63 - 1


@dataclass(frozen=True)
class TopicSpec:
    """How a topic is made. A compacted one keeps the latest record of each key for ever."""

    partitions: int
    retention_hours: float | None = None
    compacted: bool = False

    def settings(self, replication_factor: int) -> dict[str, str]:
        """Kafka's settings of such a topic."""
        common = {
            "max.message.bytes": MAX_RECORD_BYTES,
            # A site's clock may be wrong: what it dates into the future is relayed all the same.
            "message.timestamp.after.max.ms": _NO_LIMIT_MS,
            # Of three copies two must have a record before it counts as written.
            "min.insync.replicas": max(1, replication_factor - 1),
        }
        if replication_factor == 1:
            # Without a second copy only the disk makes a record safe; a gateway lets go of it after that.
            common["flush.ms"] = FLUSH_MS
        own = self._compaction() if self.compacted else self._retention()
        return {name: str(value) for name, value in (common | own).items()}

    def _compaction(self) -> dict[str, str | int]:
        # The segment being written is never compacted: small ones keep the topic quick to read.
        return {
            "cleanup.policy": "compact",
            "segment.bytes": 16 * MIB,
            "min.cleanable.dirty.ratio": "0.1",
            "max.compaction.lag.ms": HOUR_MS // 12,
        }

    def _retention(self) -> dict[str, str | int]:
        assert self.retention_hours is not None
        retention_ms = round(self.retention_hours * HOUR_MS)
        # Whole segments are deleted, so one must not span much of the time that is kept.
        return {
            "cleanup.policy": "delete",
            "retention.ms": retention_ms,
            "segment.bytes": 256 * MIB,
            "segment.ms": max(1, min(24 * HOUR_MS, retention_ms // 4)),
        }


TOPICS: dict[Kind, TopicSpec] = {
    Kind.RECORDS: TopicSpec(partitions=4, retention_hours=7 * 24),
    Kind.MARKS: TopicSpec(partitions=1, compacted=True),
    Kind.LEDGER: TopicSpec(partitions=2, compacted=True),
    # What each node counted, about once a second: small enough to follow the records to the centre.
    Kind.HOPS: TopicSpec(partitions=1, compacted=True),
    Kind.DEADLETTER: TopicSpec(partitions=1, retention_hours=30 * 24),
    # How far each site has been relayed. One partition: the relay reads it whole when it starts.
    Kind.RELAYED: TopicSpec(partitions=1, compacted=True),
    # One partition each: whoever needs registrations, schemas, mappings or rules reads them whole.
    Kind.DEVICES: TopicSpec(partitions=1, compacted=True),
    Kind.SENSORS: TopicSpec(partitions=1, compacted=True),
    Kind.SENSOR_TYPES: TopicSpec(partitions=1, compacted=True),
    Kind.SEEN_SENSORS: TopicSpec(partitions=1, compacted=True),
    Kind.SCHEMAS: TopicSpec(partitions=1, compacted=True),
    Kind.MAPPINGS: TopicSpec(partitions=1, compacted=True),
    Kind.MEASUREMENTS: TopicSpec(partitions=4, retention_hours=7 * 24),
    Kind.RULES: TopicSpec(partitions=1, compacted=True),
    # One partition: what is told to people is told in the order in which it happened.
    Kind.EVENTS: TopicSpec(partitions=1, retention_hours=30 * 24),
    Kind.ALERTS: TopicSpec(partitions=1, retention_hours=90 * 24),
    Kind.DELIVERIES: TopicSpec(partitions=1, retention_hours=90 * 24),
    # What the notifier has told of each sensor and rule, and how far each channel is.
    Kind.NOTIFIED: TopicSpec(partitions=1, compacted=True),
    # Which dead letters were sent again.
    Kind.REPLAYS: TopicSpec(partitions=1, compacted=True),
    Kind.TWIN_TYPES: TopicSpec(partitions=1, compacted=True),
    Kind.TWIN_FEEDS: TopicSpec(partitions=1, compacted=True),
    Kind.TWIN_MESSAGES: TopicSpec(partitions=4, retention_hours=7 * 24),
    # By object: what happens to one is applied in one order, also when it is read again after a crash.
    Kind.TWIN_CHANGES: TopicSpec(partitions=4, retention_hours=7 * 24),
    Kind.TWINS: TopicSpec(partitions=4, compacted=True),
    Kind.TWIN_HISTORY: TopicSpec(partitions=4, retention_hours=30 * 24),
    Kind.TWIN_OUTCOMES: TopicSpec(partitions=1, retention_hours=7 * 24),
    # Which instance of the view has which partitions.
    Kind.TWIN_VIEWS: TopicSpec(partitions=1, compacted=True),
    # Who changed what.
    Kind.AUDIT: TopicSpec(partitions=1, retention_hours=365 * 24),
    # Who has taken note of an alert.
    Kind.ACKNOWLEDGEMENTS: TopicSpec(partitions=1, compacted=True),
    # Numbers that were missing for a while, and when they came.
    Kind.GAPS: TopicSpec(partitions=1, retention_hours=90 * 24),
    Kind.QUERIES: TopicSpec(partitions=1, compacted=True),
    # By query, output and row: whoever reads keeps the newest version of each.
    Kind.RESULTS: TopicSpec(partitions=4, retention_hours=7 * 24),
    # The time of day once a second, for windows that close while nothing comes.
    Kind.TICKS: TopicSpec(partitions=1, retention_hours=1),
}


def planned(config: Config) -> dict[Kind, TopicSpec]:
    """The table with what the configuration changes."""
    return {
        kind: replace(spec, **config.kafka.topics[kind].model_dump(exclude_none=True))
        if kind in config.kafka.topics
        else spec
        for kind, spec in TOPICS.items()
    }


def ensure_topics(config: Config) -> list[str]:
    """Creates what is missing and alters what differs; says what it changed.

    The number of copies of a topic that exists already is left as it is.
    """
    client = admin(config)
    present, wanted = _partition_counts(client), planned(config)
    missing = {kind: spec for kind, spec in wanted.items() if kind.topic not in present}
    there = {kind: spec for kind, spec in wanted.items() if kind not in missing}
    changes = _create(client, missing, config.kafka.replication_factor)
    for kind, spec in there.items():
        changes += _grow(client, kind, spec, present[kind.topic])
    changes += _alter(
        client, {kind: spec.settings(config.kafka.replication_factor) for kind, spec in there.items()}
    )
    _wait_until_visible(client, wanted)
    return changes


def _partition_counts(client: AdminClient) -> dict[str, int]:
    try:
        topics = client.list_topics(timeout=REQUEST_TIMEOUT_S).topics
    except KafkaException as error:
        raise explain("Listing the topics", error) from None
    return {name: len(description.partitions) for name, description in topics.items()}


def _create(client: AdminClient, missing: dict[Kind, TopicSpec], replication_factor: int) -> list[str]:
    if not missing:
        return []
    topics = [
        NewTopic(kind.topic, spec.partitions, replication_factor, config=spec.settings(replication_factor))
        for kind, spec in missing.items()
    ]
    for topic, created in client.create_topics(topics).items():
        outcome(f"Creating {topic}", created)
    return [f"created {kind.topic} with {spec.partitions} partitions" for kind, spec in missing.items()]


def _grow(client: AdminClient, kind: Kind, spec: TopicSpec, present: int) -> list[str]:
    if spec.partitions < present:
        raise ConfigurationError(
            f"{kind.topic} has {present} partitions, {spec.partitions} are wanted, and Kafka removes none",
            f"Set kafka.topics.{kind.value}.partitions to {present} or more.",
        )
    if spec.partitions == present:
        return []
    growth = client.create_partitions([NewPartitions(kind.topic, spec.partitions)])
    outcome(f"Adding partitions to {kind.topic}", growth[kind.topic])
    return [f"{kind.topic}: partitions {present} → {spec.partitions}"]


def _alter(client: AdminClient, wanted: dict[Kind, dict[str, str]]) -> list[str]:
    resources = {kind: ConfigResource(ResourceType.TOPIC, kind.topic) for kind in wanted}
    described = client.describe_configs(list(resources.values())) if resources else {}
    changes = []
    for kind, settings in wanted.items():
        present = outcome(f"Reading the settings of {kind.topic}", described[resources[kind]])
        differing = {name: value for name, value in settings.items() if present[name].value != value}
        _set(client, kind, differing)
        changes += [f"{kind.topic}: {name} {present[name].value} → {differing[name]}" for name in differing]
    return changes


def _set(client: AdminClient, kind: Kind, settings: dict[str, str]) -> None:
    if not settings:
        return
    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in settings.items()
    ]
    change = ConfigResource(ResourceType.TOPIC, kind.topic, incremental_configs=entries)
    outcome(f"Altering {kind.topic}", client.incremental_alter_configs([change])[change])


def _wait_until_visible(client: AdminClient, wanted: dict[Kind, TopicSpec]) -> None:
    """The controller answers before every broker has heard of a new topic."""
    deadline_s = time.monotonic() + REQUEST_TIMEOUT_S
    while time.monotonic() < deadline_s:
        present = _partition_counts(client)
        if all(present.get(kind.topic, 0) >= spec.partitions for kind, spec in wanted.items()):
            return
        time.sleep(0.05)
    raise BrokerUnavailable("New topics or partitions did not appear", "Look at the brokers' logs.")
