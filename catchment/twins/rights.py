"""Who may see which objects: whoever made one, and those whom its type names as readers."""

from fnmatch import fnmatchcase

from catchment.kafka.table import Tables
from catchment.records import Kind
from catchment.twins.index import Readable
from catchment.twins.model import TwinType


class Rights:
    """Decides by the types that are declared at this moment, here and at the sites."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._types = tables.add(Kind.TWIN_TYPES, TwinType.model_validate_json)

    def readable(self, party: str) -> Readable:
        """What a party, such as `token/NAME`, may see. An object whose type is gone is its maker's alone."""
        self._tables.require_current()
        types = self._types.all().values()
        return Readable({each.key for each in types if may_read(each, party)}, party)


def may_read(type_: TwinType, party: str) -> bool:
    return any(fnmatchcase(party, pattern) for pattern in type_.readers)
