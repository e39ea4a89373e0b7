"""Programs talk to a node's API through this."""

from catchment.client.session import Session, local_session

__all__ = ["Session", "local_session"]
