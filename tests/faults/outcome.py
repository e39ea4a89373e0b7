"""What a fault did to what was sent: the counts, and how long it took until all was well again."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from tests.faults.traffic import Arrival

FULL_RUNS = Path(__file__).parents[2] / "build" / "faults"
SHORT_RUNS = FULL_RUNS / "short"


class Outcome(BaseModel, frozen=True):
    """A row of docs/faults.md."""

    number: int
    fault: str
    done: str = Field(description="What was done, in a few words.")
    sent: int = Field(description="Lines that the gateway has acknowledged to the devices.")
    arrived: int = Field(description="Different lines at the far end.")
    twice: int
    out_of_order: int
    recovery_s: float

    @property
    def lost(self) -> int:
        return self.sent - self.arrived

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.number:02d}.json").write_text(self.model_dump_json(indent=2) + "\n")


def saved() -> list[Outcome]:
    """All outcomes of full runs so far, in order."""
    return [Outcome.model_validate_json(file.read_bytes()) for file in sorted(FULL_RUNS.glob("*.json"))]


def repeated(numbers: Sequence[int]) -> int:
    """How many came that had come before."""
    return len(numbers) - len(set(numbers))


def out_of_order(numbers: Iterable[int]) -> int:
    """How many came for the first time after a higher one."""
    highest, late, seen = 0, 0, set[int]()
    for number in numbers:
        late += number < highest and number not in seen
        seen.add(number)
        highest = max(highest, number)
    return late


def recovery_s(arrivals: Iterable[Arrival], began_at: float, ended_at: float) -> float:
    """From the end of a fault until the first line comes that a gateway took after its beginning."""
    return (
        min(
            (each.came_at for each in arrivals if each.came_at > ended_at and each.taken_at > began_at),
            default=float("inf"),
        )
        - ended_at
    )
