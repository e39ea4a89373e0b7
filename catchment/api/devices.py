"""Devices: what sensors belong to."""

from catchment.api.shelves import Addresses
from catchment.registry.model import Device, DeviceSpec

router = Addresses(
    path="devices",
    group="registry",
    one="device",
    many="devices",
    made="Register",
    model=Device,
    spec=DeviceSpec,
    shelf=lambda services: services.registry.devices,
    put=lambda services: services.registry.devices.put,
    delete=lambda services: services.registry.delete_device,
).router()
