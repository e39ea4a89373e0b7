"""Mappings: how messages of devices become measurements."""

from catchment.api.shelves import Addresses
from catchment.registry.model import Mapping, MappingSpec

router = Addresses(
    path="mappings",
    group="registry",
    one="mapping",
    many="mappings",
    made="Declare",
    model=Mapping,
    spec=MappingSpec,
    shelf=lambda services: services.registry.mappings,
    put=lambda services: services.registry.put_mapping,
    delete=lambda services: services.registry.mappings.delete,
).router()
