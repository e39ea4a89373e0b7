"""What is said of twins on topics: what senders ask for, what became of it, and the twins themselves.

An object is known by `SITE/ID`, its Kafka key on every topic here. A sender is known by where it comes from:
`stream/NAME` is a device behind a gateway, `feed/ID` a declared feed of measurements, `token/NAME` a
caller of the API. Times are ms since 1970.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from catchment.config.section import Name
from catchment.registry.model import Declared, FieldName, Spec, StreamGlob, Subject, Text, Title, key_of

# Patterns over senders and callers: `*` stands for any characters, `?` for one.
PartyGlob = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:/*?-]{1,200}$")]
Transaction = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$")]
Value = bool | int | float | str


class ValueKind(StrEnum):
    """What a value of an object may be."""

    NUMBER = "number"
    INTEGER = "integer"
    TEXT = "text"
    BOOLEAN = "boolean"


class ValueSpec(Spec):
    """What a type says of one value."""

    kind: ValueKind
    description: Text = ""
    unit: Annotated[str, StringConstraints(max_length=50)] = ""
    required: bool = Field(False, description="Whether an object must have it from its creation on.")
    min: float | None = Field(None, description="Lowest number allowed.")
    max: float | None = Field(None, description="Highest number allowed.")
    max_length: int | None = Field(None, ge=0, description="Most characters of a text.")
    one_of: list[Value] | None = Field(None, min_length=1, description="The only values allowed.")


class TwinTypeSpec(Spec):
    """What objects of one type are like, and who may do what with them."""

    name: Title = Field(description="What people call it.")
    description: Text = ""
    values: dict[FieldName, ValueSpec] = Field(default_factory=dict, description="Its values by their names.")
    open: bool = Field(False, description="Whether objects may have values that are not declared.")
    readers: list[PartyGlob] = Field(
        ["token/*", "user/*"], description="Who may see its objects, besides the one that made them."
    )
    writers: list[PartyGlob] = Field(
        ["token/*", "user/*", "feed/*"],
        description="Who may make and change its objects, besides the one that made them. Devices have to be "
        "named, as `stream/NAME`.",
    )


class TwinType(Declared, TwinTypeSpec):
    """A declared type of objects."""

    model_config = Declared.model_config


class FromStreams(Spec):
    """Records of these streams are messages to twins."""

    streams: StreamGlob


class FromMeasurements(Spec):
    """Measurements become values of an object."""

    subject: Subject = Field(description="The Avro subject of the measurements.")
    sensor: StreamGlob = Field("*", description="Which sensors, by their ids.")
    object: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._{}-]{1,100}$")] = Field(
        "{sensor}", description="The object's id; `{sensor}` and `{device}` are replaced."
    )
    values: dict[FieldName, FieldName] = Field(
        default_factory=dict,
        description="Names of values, each with the field of the measurement that it comes from; by default "
        "every field is a value of its own name.",
    )


class TwinFeedSpec(Spec):
    """Where changes of twins come from, besides the API."""

    description: Text = ""
    source: FromStreams | FromMeasurements
    type: Name | None = Field(None, description="Objects that are not there yet are made, of this type.")


class TwinFeed(Declared, TwinFeedSpec):
    """A declared feed."""

    model_config = Declared.model_config


class Action(StrEnum):
    """What is done to an object."""

    CREATE = "create"
    CHANGE = "change"
    PUT = "put"
    DELETE = "delete"
    MARK_DELETED = "mark-deleted"


class ValueChange(Spec):
    """What happens to one value: exactly one of these."""

    set: Value | None = None
    add: int | float | None = None
    unset: bool | None = None


class ObjectChange(Spec):
    """What a sender wants of one object. All of it happens, or nothing."""

    action: Action = Field(
        Action.CHANGE,
        description="`put` makes the object if it is not there; `create` insists that it is not.",
    )
    type: Name | None = Field(None, description="Needed to make one.")
    values: dict[str, ValueChange] = Field(default_factory=dict)
    if_version: int | None = Field(None, ge=1, description="Refused if the object has another version.")
    notify: Text | None = Field(None, description="Something that people should be told.")


class TwinMessage(Spec):
    """What a sender says of many objects at once: a message on `twin-messages`, or from a device.

    From a device `user` does not count: it is `stream/NAME`, by the stamp.
    """

    transaction: Transaction
    user: str | None = None
    at_ms: int | None = Field(None, description="Without it, the time of origin counts.")
    confirm: bool = Field(
        False, description="Whether the sender is told what became of it, also if all is well."
    )
    objects: dict[Name, ObjectChange] = Field(min_length=1)


class Change(BaseModel):
    """One change of one object: a message on `twin-changes`, with the stamp of the message it came with."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    site: Name
    id: str
    transaction: str
    user: str
    at_ms: int
    confirm: bool = False
    lane: str = Field(
        "",
        description="Within a source, what is in order: measurements of several sensors that one feed makes "
        "changes of come as they like.",
    )
    change: ObjectChange

    @property
    def key(self) -> str:
        return key_of(self.site, self.id)


class Twin(BaseModel):
    """The state of an object: a message on `twins`; a tombstone if it was deleted for good."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    site: Name
    id: Name
    type: Name
    version: int = Field(
        ge=1, description="Counts real changes, from 1; goes on if it is deleted and made again."
    )
    owner: str = Field(description="Who made it.")
    created_ms: int
    updated_ms: int
    deleted_ms: int | None = Field(None, description="When it was marked as deleted.")
    transaction: str = Field(description="The last that changed it.")
    values: dict[str, Value]

    @property
    def key(self) -> str:
        return key_of(self.site, self.id)


class What(StrEnum):
    """What happened to an object."""

    CREATED = "created"
    CHANGED = "changed"
    DELETED = "deleted"
    MARKED_DELETED = "marked-deleted"


class Update(BaseModel):
    """A real change of an object: a message on `twin-history`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    site: Name
    id: Name
    type: Name
    version: int
    what: What
    at_ms: int
    transaction: str
    user: str
    values: dict[str, Value | None] = Field(description="Those that changed; null for one that is gone.")


class Result(StrEnum):
    """What became of a change."""

    APPLIED = "applied"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


class Refusal(StrEnum):
    """Why a change was refused."""

    MALFORMED = "malformed"
    NOT_PERMITTED = "not-permitted"
    NOT_FOUND = "not-found"
    EXISTS = "exists"
    DELETED = "deleted"
    UNKNOWN_TYPE = "unknown-type"
    TYPE_DIFFERS = "type-differs"
    UNKNOWN_VALUE = "unknown-value"
    INVALID_VALUE = "invalid-value"
    MISSING_VALUE = "missing-value"
    VERSION_CHANGED = "version-changed"


class Outcome(BaseModel):
    """What became of one change: a message on `twin-outcomes`, with the sender as its key.

    Refusals are always told, the rest if the message asked for it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    transaction: str
    user: str
    site: str
    id: str
    result: Result
    version: int | None = Field(None, description="The object's version afterwards, if it is there.")
    refusal: Refusal | None = None
    reason: str = Field("", description="In words, with the value and what would be right.")
    at_ms: int
