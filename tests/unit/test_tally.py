"""Counting what came out of a race."""

from confluent_kafka import Message
from hypothesis import given
from hypothesis import strategies as st

from catchment.bench.tally import Tally, connection_of, delays_ms


def line(number: int, stream: str = "a", rest: str = "x") -> Message:
    return Message("records", 0, 0, stream.encode(), b"%012d %b" % (number, rest.encode()))


def counts(tally: Tally) -> tuple[int, int, int]:
    report = tally.report()
    return report["missing"], report["repeated"], report["out_of_order"]


def test_all_of_every_stream_in_its_order_is_complete() -> None:
    tally = Tally({"a": 2, "b": 1})
    tally.see([line(1), line(1, "b")])
    assert counts(tally) == (1, 0, 0)
    tally.see([line(2)])
    assert tally.is_complete
    assert counts(tally) == (0, 0, 0)


@given(st.lists(st.integers(1, 20)))
def test_what_is_missing_repeated_or_late_is_counted(numbers: list[int]) -> None:
    tally = Tally({"a": 20})
    tally.see([line(number) for number in numbers])
    highest_before = [max([0, *numbers[:place]]) for place in range(len(numbers))]
    first_times = [numbers.index(number) == place for place, number in enumerate(numbers)]
    late = sum(
        first and number < highest
        for number, highest, first in zip(numbers, highest_before, first_times, strict=True)
    )
    assert counts(tally) == (20 - len(set(numbers)), len(numbers) - len(set(numbers)), late)


def test_connections_that_share_a_stream_are_told_apart() -> None:
    tally = Tally({"connection-1": 2, "connection-2": 1}, connection_of)
    tally.see(
        [line(1, rest="connection-1 x"), line(1, rest="connection-2 x"), line(2, rest="connection-1 x")]
    )
    assert tally.is_complete
    assert counts(tally) == (0, 0, 0)


def test_sightings_say_when_all_up_to_a_number_was_there() -> None:
    tally = Tally({"a": 3}, timed=True)
    tally.see([line(1), line(2)])
    tally.see([line(3)])
    assert [number for number, _ in tally.report()["sightings"]["a"]] == [2, 3]


def test_a_delay_is_from_the_write_to_the_first_sight() -> None:
    ms = 1_000_000
    assert delays_ms([(2, 10 * ms), (3, 20 * ms)], [(1, 13 * ms), (3, 25 * ms)]) == [3, 15, 5]
