"""Devices, sensors, sensor types and mappings, as they are declared and as they stand on their topics.

What a caller declares (`DeviceSpec`) and what is kept (`Device`) differ by identity and version.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from catchment.config.section import Name

Text = Annotated[str, StringConstraints(max_length=1000)]
Title = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Subject = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$")]
# Members of nested JSON objects, from the outside in.
JsonPath = Annotated[str, StringConstraints(pattern=r"^[^.\s]+(\.[^.\s]+)*$", max_length=500)]
FieldName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,199}$")]
StreamGlob = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:/*?-]{1,200}$")]
Scalar = str | bool | int | float | None


def key_of(site: str, identifier: str) -> str:
    """The Kafka key of whatever has an id at a site."""
    return f"{site}/{identifier}"


class Spec(BaseModel):
    """What a caller declares: nothing unknown."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Declared(BaseModel):
    """What is kept of it besides. Fields of a later version of Catchment are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    site: Name = Field(description="The site that declared it.")
    id: Name = Field(description="Its name, unique in its site and kind.")
    version: int = Field(ge=1, description="Counts the changes, from 1.")
    updated_ms: int = Field(description="When it was last changed, in ms since 1970.")

    @property
    def key(self) -> str:
        return key_of(self.site, self.id)


class DeviceSpec(Spec):
    """A machine or controller that sensors belong to."""

    name: Title = Field(description="What people call it.")
    description: Text = ""
    location: Text = Field("", description="Where it stands, in words.")


class Device(Declared, DeviceSpec):
    """A registered device."""

    model_config = Declared.model_config


class SensorTypeSpec(Spec):
    """What sensors of one kind measure."""

    name: Title = Field(description="What people call it.")
    description: Text = ""
    unit: Annotated[str, StringConstraints(max_length=50)] = Field("", description="The usual unit.")
    subject: Subject = Field(description="The Avro subject of its measurements.")


class SensorType(Declared, SensorTypeSpec):
    """A registered sensor type."""

    model_config = Declared.model_config


class SensorSpec(Spec):
    """Something that measures, at a device."""

    name: Title = Field(description="What people call it.")
    description: Text = ""
    device_id: Name = Field(description="The device that it belongs to.")
    sensor_type_id: Name = Field(description="What it measures.")


class Sensor(Declared, SensorSpec):
    """A registered sensor."""

    model_config = Declared.model_config


class SeenSensor(BaseModel):
    """A sensor that sent a measurement, whether or not somebody registered it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    site: Name
    id: Name
    subject: Subject
    stream: str = Field(description="The stream that the first measurement came from.")
    first_ms: int = Field(description="Time of the first measurement, in ms since 1970.")
    first_reading: dict[str, Any] = Field(description="The fields of the first measurement.")

    @property
    def key(self) -> str:
        return key_of(self.site, self.id)


class KnownSensor(BaseModel):
    """A sensor that was registered, or has sent measurements, or both."""

    site: str
    id: str
    registered: bool = Field(description="Whether somebody registered it; else it waits to be confirmed.")
    name: str | None = None
    description: str | None = None
    device_id: str | None = None
    sensor_type_id: str | None = None
    version: int | None = None
    updated_ms: int | None = None
    seen: SeenSensor | None = Field(None, description="Its first measurement, once it has sent one.")

    @classmethod
    def of(cls, registered: Sensor | None, seen: SeenSensor | None) -> Self:
        """What is known of a sensor from either side."""
        known = registered or seen
        assert known is not None
        fields = registered.model_dump() if registered else {"site": known.site, "id": known.id}
        return cls.model_validate({**fields, "registered": registered is not None, "seen": seen})


class Confirmation(Spec):
    """What is said of a seen sensor to register it; the rest follows from its measurements."""

    name: Title | None = Field(None, description="By default its id.")
    description: Text = ""
    device_id: Name | None = Field(None, description="By default the device named like its stream.")
    sensor_type_id: Name | None = Field(None, description="By default the only type of its subject.")


class Format(StrEnum):
    """How a device writes its measurements."""

    JSON = "json"
    AVRO = "avro"


class TimeUnit(StrEnum):
    """How a device writes time."""

    MS = "ms"
    S = "s"
    US = "us"
    ISO8601 = "iso8601"


class SensorByField(Spec):
    """The sensor's id is a member of the message."""

    field: JsonPath


class SensorByStream(Spec):
    """The stream's name is the sensor's id."""

    stream: Literal[True]


class FixedSensor(Spec):
    """All messages are of one sensor."""

    fixed: Name


class TimestampField(Spec):
    """The time of a measurement is a member of the message."""

    field: JsonPath
    unit: TimeUnit = TimeUnit.MS


class Constant(Spec):
    """The same value in every measurement."""

    const: Scalar


class MappingSpec(Spec):
    """How messages of some streams become measurements of one subject."""

    streams: StreamGlob = Field(description="Which streams: `*` stands for any characters, `?` for one.")
    format: Format = Field(Format.JSON, description="`avro`: the device sends Confluent's wire format.")
    subject: Subject = Field(description="The Avro subject of the measurements.")
    sensor: SensorByField | SensorByStream | FixedSensor = Field(
        SensorByStream(stream=True), description="Where the sensor's id comes from."
    )
    timestamp: TimestampField | None = Field(
        None, description="Where the time comes from; without it, the record's time of origin."
    )
    fields: dict[FieldName, JsonPath | Constant] = Field(
        default_factory=dict,
        description="Avro fields from members of the message or constants; "
        "a field that is not named comes from the member of the same name.",
    )


class Mapping(Declared, MappingSpec):
    """A declared mapping."""

    model_config = Declared.model_config
