"""Counting from the log itself: a second account, and what retention may have taken of it."""

from dataclasses import astuple
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from catchment.ledger.model import LedgerRow
from catchment.ledger.recount import Count, settle

NOW_US = 10_000
LONG_AGO_US = 1


def counted(*numbers: int) -> Count:
    count = Count()
    for number in numbers:
        count.add(number, number * 1000)
    return count


def running(highest: int, *, began_us: int = NOW_US, gaps: list[tuple[int, int]] | None = None) -> LedgerRow:
    missing = sum(last - first + 1 for first, last in gaps or [])
    values: dict[str, Any] = {"site": "oslo", "gateway": "gate", "epoch": 1, "stream": "press"}
    values |= {"version": highest, "highest": highest, "received": highest - missing, "missing": missing}
    values |= {"duplicates": 0, "out_of_order": 0, "gaps": gaps or []}
    return LedgerRow.model_validate({**values, "first_origin_us": began_us, "last_origin_us": began_us})


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60))
def test_the_count_is_that_of_sets(numbers: list[int]) -> None:
    seen: set[int] = set()
    late = 0
    for number in numbers:
        late += number not in seen and number < max(seen, default=0)
        seen.add(number)
    count = counted(*numbers)
    assert (count.received, count.highest) == (len(seen), max(seen))
    assert (count.duplicates, count.out_of_order) == (len(numbers) - len(seen), late)
    gone = [number for first, last in count.gaps for number in range(first, last + 1)]
    assert gone == sorted(set(range(1, max(seen))) - seen)
    assert (count.first_origin_us, count.last_origin_us) == (min(seen) * 1000, max(seen) * 1000)


def test_what_the_ledger_had_and_the_log_lacks_is_missing() -> None:
    count = counted(1, 2, 3)
    assert settle(count, running(5), LONG_AGO_US) == 0
    assert count.gaps == [(4, 5)]


def test_a_source_that_is_gone_is_missing_as_a_whole() -> None:
    count = Count()
    assert settle(count, running(5), LONG_AGO_US) == 0
    assert count.gaps == [(1, 5)]


def test_a_young_sources_first_numbers_are_missing() -> None:
    count = counted(4, 5)
    assert settle(count, running(5, began_us=NOW_US), kept_since_us=NOW_US) == 0
    assert count.gaps == [(1, 3)]


def test_an_old_sources_first_numbers_have_expired() -> None:
    count = counted(4, 5, 8)
    assert settle(count, running(8, began_us=LONG_AGO_US), kept_since_us=NOW_US) == 3
    assert count.gaps == [(6, 7)]


def test_what_never_came_does_not_expire() -> None:
    count = counted(6, 7)
    assert settle(count, running(7, began_us=LONG_AGO_US, gaps=[(2, 3), (5, 5)]), NOW_US) == 2
    assert count.gaps == [(2, 3), (5, 5)]


def test_a_gap_behind_the_first_number_never_expires() -> None:
    count = counted(1, 4)
    before = astuple(count)
    assert settle(count, running(4, began_us=LONG_AGO_US), NOW_US) == 0
    assert astuple(count) == before
