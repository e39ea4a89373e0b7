"""Sensor types: what sensors of one kind measure, and the subject of their measurements."""

from catchment.api.shelves import Addresses
from catchment.registry.model import SensorType, SensorTypeSpec

router = Addresses(
    path="sensor-types",
    group="registry",
    one="sensor type",
    many="sensor types",
    made="Register",
    model=SensorType,
    spec=SensorTypeSpec,
    shelf=lambda services: services.registry.sensor_types,
    put=lambda services: services.registry.put_sensor_type,
    delete=lambda services: services.registry.delete_sensor_type,
).router()
