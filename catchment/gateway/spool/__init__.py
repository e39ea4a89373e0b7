"""The spool: what a gateway has accepted, on disk until it is safe downstream."""

from catchment.gateway.spool.format import Batch
from catchment.gateway.spool.spool import Spool

__all__ = ["Batch", "Spool"]
