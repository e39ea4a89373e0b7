"""What a store's counts mean in the proof: it has measurements, and not every record is one."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from catchment.ledger.model import HopRow, Mark, Stage
from catchment.ledger.proof import HopCount, Proof, compare
from catchment.records import Source
from catchment.store.counting import hop_row, ranges
from tests.serving import row

SOURCE = Source("local", "gateway", 1, "boiler")


def proof(hops: list[HopRow], waiting: dict[Source, int] | None = None) -> Proof:
    mark = Mark(site="local", gateway="gateway", epoch=1, stream="boiler", accepted=10)
    return compare("local", [mark], [row("boiler", 10)], hops, waiting=waiting)


def in_postgres(proved: Proof) -> list[HopCount]:
    return [hop for hop in proved.streams[0].hops if hop.stage is Stage.POSTGRES]


def test_a_stream_that_is_not_measured_has_no_such_hop() -> None:
    assert in_postgres(proof([])) == []


def test_records_that_became_no_measurement_are_not_missing() -> None:
    proved = proof([hop_row("local", "main", SOURCE, {1, 2, 7}, set())])
    (hop,) = in_postgres(proved)
    assert (hop.received, hop.missing, hop.under_way, proved.holds) == (3, 0, 0, True)


def test_what_the_store_has_still_to_take_is_under_way() -> None:
    for stored in ([], [hop_row("local", "main", SOURCE, {1}, set())]):
        proved = proof(stored, {SOURCE: 4})
        (hop,) = in_postgres(proved)
        assert (hop.received, hop.under_way, proved.holds) == (len(stored), 4, False)


def test_a_measurement_that_is_not_in_the_store_is_missing_and_named() -> None:
    proved = proof([hop_row("local", "main", SOURCE, {1, 4}, {2, 3, 9})])
    assert (proved.streams[0].missing, proved.streams[0].gaps) == (3, [(2, 3), (9, 9)])
    assert not proved.holds


def test_of_two_stores_the_one_that_has_less_counts() -> None:
    hops = [hop_row("local", name, SOURCE, set(range(count)), set()) for name, count in (("a", 5), ("b", 9))]
    assert [hop.received for hop in in_postgres(proof(hops[::-1]))] == [5]
    assert len({hop.key for hop in hops}) == 2


@given(st.sets(st.integers(1, 50)))
def test_ranges_say_the_same_as_the_numbers(numbers: set[int]) -> None:
    found = list(ranges(numbers))
    assert {number for first, last in found for number in range(first, last + 1)} == numbers
    assert all(before[1] + 1 < after[0] for before, after in pairwise(found))
