"""What the API knows of every source."""

from typing import Protocol

from catchment.ledger.model import HopRow, LedgerRow, Mark


class LedgerSource(Protocol):
    """The latest of all that is said of every source, sorted by site, gateway, stream and epoch."""

    @property
    def caught_up(self) -> bool: ...

    def marks(self) -> list[Mark]: ...

    def rows(self) -> list[LedgerRow]: ...

    def hops(self) -> list[HopRow]: ...
