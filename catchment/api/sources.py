"""What the API reads the ledger from."""

from typing import Protocol

from catchment.ledger.model import LedgerRow


class LedgerSource(Protocol):
    """The latest row of every source, sorted by site, gateway, stream and epoch."""

    @property
    def caught_up(self) -> bool: ...

    def rows(self) -> list[LedgerRow]: ...
