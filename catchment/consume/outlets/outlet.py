"""What all outlets have in common."""

from typing import Protocol

from catchment.consume.source import Batch


class Outlet(Protocol):
    """A place that records go to. Workers call it side by side."""

    def handle(self, batch: Batch) -> None:
        """Returns when the whole batch is where it belongs; raises if it is not."""

    def stop(self) -> None:
        """Called when no more is taken; `handle` still has its batch, and may give up who stands still."""

    def close(self) -> None:
        """Ends what was opened; called once, when no worker is left."""
