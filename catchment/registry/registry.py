"""The registry: devices, sensors, sensor types and mappings that refer to each other and to schemas."""

from collections.abc import Iterable

import avro.schema

from catchment.errors import Conflict, InvalidRequest, NotFound, SchemaRefused
from catchment.kafka.table import Tables
from catchment.records import Kind
from catchment.registry.model import (
    Confirmation,
    Constant,
    Declared,
    Device,
    Format,
    KnownSensor,
    Mapping,
    MappingSpec,
    SeenSensor,
    Sensor,
    SensorSpec,
    SensorType,
    SensorTypeSpec,
    key_of,
)
from catchment.registry.shelf import ANYTHING, Expected, Shelf
from catchment.schemas.registry import SchemaRegistry
from catchment.schemas.schema import SENSOR_FIELD, TIME_FIELD, check_measurement, default_fits, parse


class Registry:
    """What is declared at this node, and at a centre what its sites declared.

    Every write that depends on another table holds the tables' lock: what is referred to cannot go away
    in between.
    """

    def __init__(self, site: str, tables: Tables, schemas: SchemaRegistry) -> None:
        self._site = site
        self._tables = tables
        self._schemas = schemas
        self.devices = Shelf("device", site, tables, Kind.DEVICES, Device)
        self.sensor_types = Shelf("type", site, tables, Kind.SENSOR_TYPES, SensorType)
        self.sensors = Shelf("sensor", site, tables, Kind.SENSORS, Sensor)
        self.mappings = Shelf("mapping", site, tables, Kind.MAPPINGS, Mapping)
        self._seen = tables.add(Kind.SEEN_SENSORS, SeenSensor.model_validate_json)

    # Sensors, registered and only seen

    def known_sensors(self, site: str | None = None) -> list[KnownSensor]:
        """Every sensor that was registered or seen, sorted by site and id."""
        registered = {sensor.key: sensor for sensor in self.sensors.all(site)}
        seen = {key: each for key, each in self._seen.all().items() if site in (None, each.site)}
        known = [
            KnownSensor.of(registered.get(key), seen.get(key)) for key in registered.keys() | seen.keys()
        ]
        return sorted(known, key=lambda each: (each.site, each.id))

    def known_sensor(self, identifier: str, site: str | None = None) -> KnownSensor:
        """One sensor that was registered or seen."""
        registered = self.sensors.find(identifier, site)
        seen = self._seen.get(key_of(site or self._site, identifier))
        if registered is None and seen is None:
            self.sensors.get(identifier, site)
        return KnownSensor.of(registered, seen)

    def confirm(self, identifier: str, given: Confirmation) -> Sensor:
        """Registers a sensor that was seen, with what was given and what follows from its measurements."""
        with self._tables.lock:
            seen = self._seen.get(key_of(self._site, identifier))
            if seen is None:
                raise NotFound(
                    f"No sensor {identifier!r} has been seen at {self._site}",
                    "`catchment register sensor list --unregistered` shows those that wait.",
                )
            if self.sensors.find(identifier):
                raise Conflict(f"The sensor {identifier!r} is registered already", "Change it by PUT.")
            spec = SensorSpec(
                name=given.name or identifier,
                description=given.description,
                device_id=given.device_id or self._device_of(seen),
                sensor_type_id=given.sensor_type_id or self._type_of(seen),
            )
            return self.put_sensor(identifier, spec)

    # Writes that refer to others

    def put_sensor(self, identifier: str, spec: SensorSpec, expected: Expected = ANYTHING) -> Sensor:
        """Registers or changes a sensor; its device and type must be there."""
        with self._tables.lock:
            for what, shelf, referred in (
                ("device", self.devices, spec.device_id),
                ("type", self.sensor_types, spec.sensor_type_id),
            ):
                if shelf.find(referred) is None:
                    raise InvalidRequest(
                        f"The sensor {identifier!r} refers to the {what} {referred!r}, which is not there",
                        f"Register it first: `catchment register {what} add {referred}`.",
                    )
            return self.sensors.put(identifier, spec, expected)

    def put_sensor_type(
        self, identifier: str, spec: SensorTypeSpec, expected: Expected = ANYTHING
    ) -> SensorType:
        """Registers or changes a sensor type; its subject must be there and fit measurements."""
        with self._tables.lock:
            self._measured(spec.subject)
            return self.sensor_types.put(identifier, spec, expected)

    def put_mapping(self, identifier: str, spec: MappingSpec, expected: Expected = ANYTHING) -> Mapping:
        """Declares or changes a mapping; it must fit the schema of its subject."""
        with self._tables.lock:
            _check_mapping(spec, self._measured(spec.subject))
            return self.mappings.put(identifier, spec, expected)

    def delete_device(self, identifier: str, expected: Expected = ANYTHING) -> None:
        """Deletes a device that no sensor refers to."""
        with self._tables.lock:
            users = [sensor for sensor in self.sensors.own() if sensor.device_id == identifier]
            _refuse_if_used(f"The device {identifier!r}", "sensors", users)
            self.devices.delete(identifier, expected)

    def delete_sensor_type(self, identifier: str, expected: Expected = ANYTHING) -> None:
        """Deletes a sensor type that no sensor refers to."""
        with self._tables.lock:
            users = [sensor for sensor in self.sensors.own() if sensor.sensor_type_id == identifier]
            _refuse_if_used(f"The type {identifier!r}", "sensors", users)
            self.sensor_types.delete(identifier, expected)

    def refuse_if_subject_used(self, subject: str) -> None:
        """Refuses, in the schema registry's way, to delete a subject that something refers to."""
        names = self._users_of(subject)
        if names:
            raise SchemaRefused(
                f"{subject} is used by the types or mappings {', '.join(names)}", "Remove those first.", 42206
            )

    def refuse_unless_measured(self, subject: str, text: str) -> None:
        """Refuses a schema that is none of measurements for a subject that something refers to."""
        if self._users_of(subject):
            check_measurement(parse(text))

    def _users_of(self, subject: str) -> list[str]:
        users: list[SensorType | Mapping] = [*self.sensor_types.own(), *self.mappings.own()]
        return [user.id for user in users if user.subject == subject]

    def _device_of(self, seen: SeenSensor) -> str:
        if self.devices.find(seen.stream):
            return seen.stream
        raise InvalidRequest(
            f"It does not follow from its stream to which device the sensor {seen.id!r} belongs",
            "Name the device (device_id, or --device).",
        )

    def _type_of(self, seen: SeenSensor) -> str:
        fitting = [each.id for each in self.sensor_types.own() if each.subject == seen.subject]
        if len(fitting) == 1:
            return fitting[0]
        raise InvalidRequest(
            f"{len(fitting)} types have the subject {seen.subject} of the sensor {seen.id!r}",
            "Name the type (sensor_type_id, or --type); register one if there is none.",
        )

    def _measured(self, subject: str) -> avro.schema.RecordSchema:
        """The schema of a subject, of which there can be measurements."""
        try:
            schema = parse(self._schemas.version(subject).text)
            check_measurement(schema)
        except SchemaRefused as error:
            raise InvalidRequest(
                f"The subject {subject!r} cannot be referred to: {error.happened}", error.remedy
            ) from None
        assert isinstance(schema.parsed, avro.schema.RecordSchema)
        return schema.parsed


def _check_mapping(spec: MappingSpec, schema: avro.schema.RecordSchema) -> None:
    types = {field.name: field.type for field in schema.fields}
    for name, source in spec.fields.items():
        if name in (SENSOR_FIELD, TIME_FIELD):
            raise InvalidRequest(
                f"fields.{name} is set by the mapping's sensor and timestamp", f"Leave {name} out of fields."
            )
        if name not in types:
            raise InvalidRequest(
                f"{spec.subject} has no field {name!r}", f"It has {', '.join(types)}. See the schema."
            )
        if isinstance(source, Constant) and not default_fits(types[name], source.const, any_branch=True):
            raise InvalidRequest(
                f"The constant of fields.{name} is not of its type {types[name].type}", "See the schema."
            )
    if spec.format is Format.AVRO and (spec.fields or spec.timestamp or "sensor" in spec.model_fields_set):
        raise InvalidRequest(
            "A mapping of format avro takes measurements as they are",
            "Leave out sensor, timestamp and fields.",
        )


def _refuse_if_used(what: str, by: str, users: Iterable[Declared]) -> None:
    names = [user.id for user in users]
    if names:
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        raise Conflict(f"{what} is referred to by the {by} {shown}", f"Remove or change those {by} first.")
