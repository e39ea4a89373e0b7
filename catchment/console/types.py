"""`python -m catchment.console.types`: the console's types, generated from what the API says of itself."""

from typing import Any

import orjson

from catchment.api.app import create_app
from catchment.config import Config
from catchment.console.build import WEB, npm
from catchment.kafka.parties import Party
from catchment.kafka.table import Tables
from catchment.ledger.model import HopRow, LedgerRow, Mark

DESCRIPTION = WEB / "openapi.json"


class EmptyLedger:
    """Enough of a ledger to describe the API."""

    caught_up = True

    def marks(self) -> list[Mark]:
        return []

    def rows(self) -> list[LedgerRow]:
        return []

    def hops(self) -> list[HopRow]:
        return []


def description() -> bytes:
    """The API's description as it is kept beside the console's sources."""
    config = Config.model_validate({})
    schema: dict[str, Any] = create_app(config, EmptyLedger(), Tables(config, Party.API)).openapi()
    return orjson.dumps(schema, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


if __name__ == "__main__":
    DESCRIPTION.write_bytes(description())
    npm("run", "types")
