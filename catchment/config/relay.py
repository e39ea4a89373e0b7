"""What can be set of the relay from sites to the centre."""

from typing import Annotated

from pydantic import Field, StringConstraints

from catchment.config.section import Section
from catchment.records import Kind

# Kafka's access lists know names and beginnings of names, and so does this.
TopicPattern = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,249}\*?$")]
# Rules, mappings and queries are a node's own, and so is what it told people.
RELAYED_KINDS = (
    Kind.RECORDS,
    Kind.MARKS,
    Kind.HOPS,
    Kind.DEADLETTER,
    Kind.REPLAYS,
    Kind.DEVICES,
    Kind.SENSORS,
    Kind.SENSOR_TYPES,
    Kind.SEEN_SENSORS,
    Kind.SCHEMAS,
    Kind.MEASUREMENTS,
    Kind.EVENTS,
    Kind.ALERTS,
    Kind.TWIN_TYPES,
    Kind.TWINS,
    Kind.TWIN_HISTORY,
    Kind.RESULTS,
)


class RelaySettings(Section):
    """What comes from sites to the centre, and how."""

    allow: list[TopicPattern] = Field(
        [kind.topic for kind in RELAYED_KINDS],
        description="Topics that a centre relays, and at a site those that an invited centre may read: "
        "names, or beginnings of names with `*` at the end.",
    )
    look_interval_s: float = Field(
        5, gt=0, le=3600, description="How often a site is asked for new topics and partitions."
    )
    batch_records: int = Field(
        20_000, ge=1, le=1_000_000, description="Most records that are written in one transaction."
    )
    batch_wait_ms: float = Field(
        20, ge=0, le=10_000, description="How long a transaction may wait for more records."
    )
    queue_mib: int = Field(
        32, ge=1, le=2048, description="Bytes of each site that are fetched ahead, and so kept in memory."
    )
    transaction_timeout_s: float = Field(
        15,
        ge=5,
        le=600,
        description="A transaction that takes longer is undone and tried again. For so long a relay that "
        "died can hold up readers at the centre.",
    )
    restart_backoff_max_s: float = Field(
        15, gt=0, description="Longest pause before a site that failed is tried again."
    )
