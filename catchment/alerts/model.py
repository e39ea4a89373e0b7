"""What alerts are made of, on the topics and in memory."""

import hashlib
from enum import StrEnum

from pydantic import BaseModel, Field

# No rule of a person can be called so: these are of continuous queries.
QUERY_RULES = "query/"
DIGEST_DIGITS = 16


class Phase(StrEnum):
    """Where in a transgression an event stands."""

    START = "START"
    LASTING = "LASTING"
    END = "END"


class Direction(StrEnum):
    """On which side of the threshold a transgression is."""

    ABOVE = "ABOVE"
    BELOW = "BELOW"


class Event(BaseModel, frozen=True):
    """An entry of `events`, decoded; a schema with further fields is read all the same."""

    node: str
    site: str
    sensor_id: str
    rule: str
    rule_version: int
    sequence: int
    phase: Phase
    direction: Direction
    subject: str
    field: str
    unit: str
    timestamp: int
    temperature_threshold: float
    hysteresis: float
    latest: float
    average_transgression: float
    max_transgression: float
    exceeded_for_ms: int
    first_ms: int
    last_ms: int
    count: int

    @property
    def key(self) -> str:
        """The one sensor under the one rule that it is about."""
        return f"{self.node}/{self.site}/{self.sensor_id}/{self.rule}"


class Cause(StrEnum):
    """Why people are told something about a twin."""

    SENDER = "SENDER"
    VALIDATION = "VALIDATION"


class Notice(BaseModel, frozen=True):
    """An entry of `events` about a twin: told once, and never over."""

    node: str
    site: str
    sensor_id: str
    rule: str
    sequence: int
    timestamp: int
    cause: Cause
    text: str
    user: str
    transaction: str

    @property
    def key(self) -> str:
        """The one object that it is about."""
        return f"{self.node}/{self.site}/{self.sensor_id}/{self.rule}"

    @property
    def is_of_query(self) -> bool:
        """Whether it is about a row of a continuous query; rows have no order among themselves."""
        return self.rule.startswith(QUERY_RULES)

    @property
    def digest(self) -> str:
        """What a row says, in a few digits."""
        return hashlib.sha256(f"{self.transaction} {self.text}".encode()).hexdigest()[:DIGEST_DIGITS]


class AlertState(StrEnum):
    """Raised and cleared alternate strictly for each sensor and rule; a notice is only told."""

    RAISED = "raised"
    CLEARED = "cleared"
    TOLD = "told"


class Alert(BaseModel, frozen=True):
    """A change of state that people are told of; an entry of `alerts`."""

    id: str = Field(
        description="node/site/sensor/rule/first_ms: the same when it is raised and when cleared. Of a "
        "notice the last part is its number."
    )
    state: AlertState
    version: int = Field(
        description="Changes of this sensor under this rule so far: odd when raised. Of a notice its number."
    )
    at_ms: int = Field(description="Time of the reading that changed the state, in ms since 1970.")
    sentence: str = Field(description="What people are told.")
    channels: list[str] = Field(description="Names of the channels that it is sent on.")
    node: str = Field(description="The site name of the node whose rule it is.")
    site: str = Field(description="The site of the sensor.")
    sensor: str = Field(description="The sensor's id; of a notice the object's.")
    sensor_name: str
    sensor_type: str | None
    device: str | None = Field(description="Id of the sensor's device.")
    device_name: str | None
    location: str | None
    rule: str
    rule_version: int
    field: str = Field(description="The field of the measurements that the rule watches.")
    unit: str
    direction: Direction | None = Field(description="Null for a notice, as all that is measured.")
    threshold: float | None
    latest: float | None
    average: float | None = Field(description="Mean of all readings of the transgression.")
    peak: float | None = Field(description="The reading furthest beyond the threshold.")
    first_ms: int
    last_ms: int
    exceeded_for_ms: int
    count: int

    @property
    def key(self) -> str:
        return f"{self.node}/{self.site}/{self.sensor}/{self.rule}"

    @property
    def message_id(self) -> str:
        """What a receiver knows a repeated message by."""
        return f"{self.id}/{self.state}"


class Outcome(StrEnum):
    """How an attempt to deliver ended."""

    DELIVERED = "delivered"
    FAILED = "failed"


class Delivery(BaseModel, frozen=True):
    """An attempt to tell of an alert on a channel; an entry of `deliveries`."""

    alert: str = Field(description="Id of the alert.")
    state: AlertState
    channel: str
    outcome: Outcome
    attempt: int = Field(description="Number of the attempt, from 1.")
    at_ms: int
    error: str = ""
    in_doubt: bool = Field(
        False, description="Whether an earlier attempt, or this one if it failed, may have arrived."
    )

    @property
    def key(self) -> str:
        return f"{self.alert}/{self.state}/{self.channel}"


class Standing(BaseModel, frozen=True):
    """What has been made of the events of one sensor and rule so far."""

    key: str
    sequence: int = Field(description="Number of the newest event.")
    at_ms: int = Field(description="Time of the reading that caused it.")
    changes: int = Field(0, description="Alerts so far: odd while one is open.")
    first_ms: int = Field(0, description="Beginning of the newest alert.")
    channels: list[str] = Field(default_factory=list, description="Who was told of the newest alert.")
    told: list[str] = Field(default_factory=list, description="Digests of what a query said lately.")

    @property
    def is_open(self) -> bool:
        return self.changes % 2 == 1


class Position(BaseModel, frozen=True):
    """All of `events` before this offset has been made into alerts."""

    next_offset: int


class ChannelState(BaseModel, frozen=True):
    """All of `alerts` before this offset has been sent on the channel."""

    channel: str
    next_offset: int
    in_doubt: bool = Field(
        False, description="A request for the alert at that offset was begun, and may have arrived."
    )
    attempts: int = Field(0, description="Of the alert at that offset, so far.")
