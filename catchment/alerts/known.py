"""What is declared about sensors and rules, as far as the notifier needs it: kept from compacted topics."""

import io
import logging
import struct
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import avro.errors
import avro.io
from confluent_kafka import Message
from pydantic import BaseModel, Field, ValidationError

from catchment.alerts.model import QUERY_RULES, Event, Notice
from catchment.alerts.sentence import Subject
from catchment.errors import InvalidRecord, SchemaRefused
from catchment.records import Kind
from catchment.registry.model import Device, Sensor, SensorType, key_of
from catchment.schemas.model import SchemaVersion
from catchment.schemas.model import decode as decode_entry
from catchment.schemas.schema import parse
from catchment.schemas.shipped import THRESHOLD_EVENT, TWIN_NOTICE, shipped

log = logging.getLogger(__name__)

Entry = TypeVar("Entry", bound=BaseModel)

# No rule can be called that: twins and continuous queries say things themselves.
NOTICES = ("twins/notice", QUERY_RULES)
_WIRE = struct.Struct(">bI")
_WRONG_AVRO = (avro.errors.AvroException, ValueError, EOFError, IndexError, TypeError, struct.error)


class Telling(BaseModel, frozen=True):
    """The part of a rule that says whom to tell, and in which words."""

    channels: list[str] = Field(default_factory=list, description="Without any, all are told.")
    message: str = Field("", description="Without it, the usual sentence.")


class Known:
    """The latest of each declaration. What cannot be read is passed over, and said so in the log."""

    def __init__(self, node: str) -> None:
        self._node = node
        self._devices: dict[str, Device] = {}
        self._sensors: dict[str, Sensor] = {}
        self._types: dict[str, SensorType] = {}
        self._rules: dict[str, Telling] = {}
        ours = [parse(shipped()[subject]) for subject in (THRESHOLD_EVENT, TWIN_NOTICE)]
        self._schemas = {schema.id: schema.text for schema in ours}
        self._readers: dict[int, avro.io.DatumReader] = {}
        self._takers: dict[str, Callable[[str, bytes | None], None]] = {
            Kind.DEVICES.topic: partial(_put, self._devices, Device),
            Kind.SENSORS.topic: partial(_put, self._sensors, Sensor),
            Kind.SENSOR_TYPES.topic: partial(_put, self._types, SensorType),
            Kind.RULES.topic: partial(_put, self._rules, Telling),
            Kind.SCHEMAS.topic: self._take_schema,
        }

    @property
    def topics(self) -> list[str]:
        return [*self._takers]

    def take(self, message: Message) -> None:
        """An entry of one of the topics, or the end of one."""
        key, topic = (message.key() or b"").decode(errors="replace"), message.topic() or ""
        try:
            self._takers[topic](key, message.value())
        except ValidationError as error:
            log.warning("%s of %s cannot be read: %s", key, topic, error)

    def subject_of(self, event: Event) -> Subject:
        """The sensor of an event and where it is."""
        sensor = self._sensors.get(key_of(event.site, event.sensor_id))
        if sensor is None:
            return Subject(event.sensor_id)
        device = self._devices.get(key_of(event.site, sensor.device_id))
        kind = self._types.get(key_of(event.site, sensor.sensor_type_id))
        return Subject(
            sensor_name=sensor.name,
            sensor_type=kind.name if kind else None,
            device=sensor.device_id,
            device_name=device.name if device else sensor.device_id,
            location=device.location if device else None,
        )

    def telling_of(self, rule: str) -> Telling:
        """What one of this node's own rules says of telling; of a removed one, nothing."""
        return self._rules.get(key_of(self._node, rule), Telling())

    def decode(self, value: bytes | None) -> Event | Notice:
        """An event in Confluent's wire format: what a rule says of a sensor, or a notice about a twin."""
        if not value or len(value) < _WIRE.size or value[0] != 0:
            raise _unreadable("it is not in Confluent's wire format")
        _, schema_id = _WIRE.unpack_from(value)
        reader = self._reader(schema_id)
        try:
            fields: Any = reader.read(avro.io.BinaryDecoder(io.BytesIO(value[_WIRE.size :])))
            is_notice = isinstance(fields, dict) and str(fields.get("rule")).startswith(NOTICES)
            return Notice.model_validate(fields) if is_notice else Event.model_validate(fields)
        except ValidationError as error:
            wrong = error.errors()[0]
            raise _unreadable(f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}") from None
        except _WRONG_AVRO as error:
            raise _unreadable(f"it does not match its schema {schema_id} ({error})") from None

    def _reader(self, schema_id: int) -> avro.io.DatumReader:
        if schema_id not in self._readers:
            written = self._schemas.get(schema_id)
            if written is None:
                raise _unreadable(f"its schema {schema_id} is not registered")
            try:
                self._readers[schema_id] = avro.io.DatumReader(parse(written).parsed)
            except SchemaRefused as error:
                raise _unreadable(f"its schema {schema_id} makes no sense ({error.happened})") from None
        return self._readers[schema_id]

    def _take_schema(self, _: str, value: bytes | None) -> None:
        # What was deleted is kept: events that were written with it are read all the same.
        entry = decode_entry(value) if value is not None else None
        if isinstance(entry, SchemaVersion):
            self._schemas[entry.id] = entry.text


def _put(entries: dict[str, Entry], model: type[Entry], key: str, value: bytes | None) -> None:
    if value is None:
        entries.pop(key, None)
    else:
        entries[key] = model.model_validate_json(value)


def _unreadable(why: str) -> InvalidRecord:
    return InvalidRecord(f"The event cannot be read: {why}", "See what writes to the events.")
