"""Types of twins: what objects are like, and who may do what with them."""

from catchment.api.shelves import Addresses
from catchment.twins.model import TwinType, TwinTypeSpec

router = Addresses(
    path="twin-types",
    group="twins",
    one="type of twins",
    many="types of twins",
    made="Declare",
    model=TwinType,
    spec=TwinTypeSpec,
    shelf=lambda services: services.twin_declarations.types,
    put=lambda services: services.twin_declarations.put_type,
    delete=lambda services: services.twin_declarations.delete_type,
    deletion="Its objects stay, and can be deleted by those that made them.",
).router()
