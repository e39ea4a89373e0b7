"""Catchment gathers the data streams of many sites into one place without losing a drop."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from catchment.client.client import Client, connect

__version__ = "0.1.0"
__all__ = ["Client", "__version__", "connect"]


def __getattr__(name: str) -> Any:
    """The client is loaded when somebody asks for it: no part of a node needs it."""
    if name in ("Client", "connect"):
        from catchment.client import client

        return getattr(client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
