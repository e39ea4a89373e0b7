"""Gaps: what was missing, since when, and when it came."""

from hypothesis import given
from hypothesis import strategies as st

from catchment.ledger.gaps import Gap, GapBook, GapChange, Range, common, follow_up, without
from tests.serving import row

HIGHEST = 40


def numbers(ranges: list[Range]) -> set[int]:
    return {number for first, last in ranges for number in range(first, last + 1)}


def as_ranges(missing: set[int]) -> list[Range]:
    """The ranges that a ledger would name."""
    ranges: list[Range] = []
    for number in sorted(missing):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return ranges


missing_numbers = st.sets(st.integers(1, HIGHEST))


@given(missing_numbers, missing_numbers)
def test_what_is_common_to_two_lists_is_in_both(one: set[int], other: set[int]) -> None:
    assert numbers(common(as_ranges(one), as_ranges(other))) == one & other


@given(st.tuples(st.integers(1, HIGHEST), st.integers(1, HIGHEST)), missing_numbers)
def test_what_is_left_of_a_range_is_all_but_what_was_taken(ends: tuple[int, int], taken: set[int]) -> None:
    whole = (min(ends), max(ends))
    assert numbers(list(without(whole, as_ranges(taken)))) == numbers([whole]) - taken


@given(st.lists(missing_numbers, max_size=8))
def test_every_number_is_missing_until_it_came_and_closed_once(looks: list[set[int]]) -> None:
    """A number that joined an older gap counts as missing for as long as that."""
    book = GapBook()
    opened: dict[int, int] = {}
    for now_ms, missing in enumerate(looks, start=1):
        change = follow_up(book.missing_of("s"), row(), as_ranges(missing), now_ms)
        came = numbers([(gap.first, gap.last) for gap in change.closed])
        assert came == opened.keys() - missing
        book.put("s", change)
        for number in list(opened):
            if number not in missing:
                del opened[number]
        opened |= dict.fromkeys(missing - opened.keys(), now_ms)
        still = [gap for gap in book.all() if gap.closed_ms is None]
        assert numbers([(gap.first, gap.last) for gap in still]) == missing
        for gap in still:
            assert gap.opened_ms <= min(opened[number] for number in range(gap.first, gap.last + 1))
        assert all(gap.closed_ms == now_ms for gap in change.closed)


def test_a_gap_that_is_filled_from_both_ends_stays_as_old_as_it_is() -> None:
    first = follow_up([], row(), [(5, 10)], 100)
    second = follow_up(first.missing, row(), [(7, 8)], 200)
    third = follow_up(second.missing, row(), [], 300)
    assert [(gap.first, gap.last, gap.opened_ms, gap.closed_ms) for gap in second.closed] == [
        (5, 6, 100, 200),
        (9, 10, 100, 200),
    ]
    assert [(gap.first, gap.last, gap.opened_ms, gap.closed_ms) for gap in third.closed] == [(7, 8, 100, 300)]


def test_the_book_forgets_the_oldest_that_closed_and_none_that_is_open() -> None:
    book = GapBook(closed_kept=2)
    gap = Gap(site="a", gateway="g", epoch=1, stream="s", first=1, last=1, opened_ms=1, closed_ms=None)
    book.put("open", GapChange(missing=[gap], closed=[]))
    for number in range(2, 6):
        closed = gap.model_copy(update={"first": number, "last": number, "opened_ms": number, "closed_ms": 9})
        book.put("s", GapChange(missing=[], closed=[closed]))
    assert [each.first for each in book.all()] == [5, 4, 1]
