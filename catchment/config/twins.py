"""What can be set of digital twins."""

from enum import StrEnum

from pydantic import Field

from catchment.config.section import Section


class StateStore(StrEnum):
    """Where the pipeline keeps the state of objects while it runs."""

    ROCKSDB = "rocksdb"
    MEMORY = "memory"


class TwinsSettings(Section):
    """Digital twins: the current state of every object."""

    enabled: bool = Field(True, description="Whether this node keeps twins of its site.")
    state_store: StateStore = Field(
        StateStore.ROCKSDB,
        description="`rocksdb` keeps objects on disk and the busiest in memory, `memory` all of them. "
        "Both are as exact after a crash, and either can go on where the other stopped.",
    )
