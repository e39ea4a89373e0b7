"""The judge of the fault tests sees what is repeated and late, and the page of faults has a row for each."""

import re
from pathlib import Path

from tests.faults.outcome import out_of_order, recovery_s, repeated
from tests.faults.page import PAGE
from tests.faults.traffic import Arrival

FAULTS = Path(__file__).parents[1] / "faults"


def test_what_came_again_is_counted() -> None:
    assert repeated([1, 2, 2, 3, 1]) == 2


def test_what_came_late_is_counted_unless_it_came_again() -> None:
    assert out_of_order([1, 3, 2, 4]) == 1
    assert out_of_order([1, 2, 3, 2, 3, 4]) == 0


def test_recovery_ends_with_the_first_line_that_was_taken_since_the_fault_began() -> None:
    arrivals = [
        Arrival(1, taken_at=9, came_at=9.5),
        Arrival(2, taken_at=9.9, came_at=21),
        Arrival(3, taken_at=12, came_at=22.5),
        Arrival(4, taken_at=22, came_at=23),
    ]
    assert recovery_s(arrivals, began_at=10, ended_at=20) == 2.5
    assert recovery_s(arrivals, began_at=30, ended_at=40) == float("inf")


def test_every_fault_has_its_row_and_nothing_was_lost_twice_or_late() -> None:
    tests = [
        name
        for file in FAULTS.glob("test_*.py")
        for name in re.findall(r"^def test_\w+", file.read_text(), re.M)
    ]
    rows = [line.split("|")[1:-1] for line in PAGE.read_text(encoding="utf-8").splitlines() if " s |" in line]
    assert len(rows) == len(tests)
    for row in rows:
        sent, arrived, *wrong = (cell.strip() for cell in row[2:7])
        assert (sent, wrong) == (arrived, ["0", "0", "0"])
