"""What a spool must remember beyond its segments, in one small file that is replaced whole."""

import time
from pathlib import Path

from pydantic import BaseModel, Field

from catchment.security.files import write_private


class Progress(BaseModel):
    """How far everything is safe downstream, and what the deleted segments have said.

    `offsets` are Kafka's: in each partition, all that comes before is safe and need not be looked at again.
    """

    epoch: int
    position: int = 0
    sequences: dict[str, int] = Field(default_factory=dict)
    numbers: dict[str, int] = Field(default_factory=dict)
    keys: dict[str, float] = Field(default_factory=dict)
    offsets: dict[int, int] = Field(default_factory=dict)

    @classmethod
    def load(cls, file: Path) -> "Progress":
        """The progress of a spool, or a new epoch where there is none."""
        if file.exists():
            return cls.model_validate_json(file.read_bytes())
        fresh = cls(epoch=new_epoch())
        fresh.save(file)
        return fresh

    def save(self, file: Path) -> None:
        write_private(file, self.model_dump_json().encode())


def new_epoch() -> int:
    """A number that no earlier epoch of this gateway has."""
    return time.time_ns() // 1_000_000
