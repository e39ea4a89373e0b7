"""Limits per provider: rates and places."""

from hypothesis import given
from hypothesis import strategies as st

from catchment.gateway.limits import Places, RateLimit


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class TestRateLimit:
    def test_a_second_may_be_spent_at_once(self) -> None:
        limit = RateLimit(10, Clock())
        limit.spend("press", 10)
        assert limit.wait_s("press") == 0
        limit.spend("press", 5)
        assert limit.wait_s("press") == 0.5

    def test_waiting_pays(self) -> None:
        clock = Clock()
        limit = RateLimit(10, clock)
        limit.spend("press", 40)
        assert limit.wait_s("press") == 3
        clock.now_s += 3
        assert limit.wait_s("press") == 0

    def test_silence_saves_no_more_than_a_second(self) -> None:
        clock = Clock()
        limit = RateLimit(10, clock)
        limit.spend("press", 10)
        clock.now_s += 3600
        limit.spend("press", 30)
        assert limit.wait_s("press") == 2

    def test_each_provider_pays_for_itself(self) -> None:
        limit = RateLimit(10, Clock())
        limit.spend("press", 1000)
        assert limit.wait_s("oven") == 0

    def test_without_a_rate_nobody_waits(self) -> None:
        limit = RateLimit(None, Clock())
        limit.spend("press", 1_000_000)
        assert limit.wait_s("press") == 0

    @given(st.lists(st.tuples(st.floats(0, 5), st.integers(1, 50)), min_size=1, max_size=50))
    def test_whoever_waits_as_told_keeps_to_the_rate(self, batches: list[tuple[float, int]]) -> None:
        clock = Clock()
        limit = RateLimit(10, clock)
        sent = 0
        for pause_s, records in batches:
            clock.now_s += pause_s + limit.wait_s("press")
            # The last batch may be any size; what came before it keeps to the rate and the spare second.
            assert sent <= 10 * (clock.now_s - 100.0 + 1.0) + 1e-6
            limit.spend("press", records)
            sent += records


class TestPlaces:
    def test_in_all(self) -> None:
        places = Places(2, 2)
        assert [places.take(name) for name in ("a", "b", "c")] == [True, True, False]
        places.leave("a")
        assert places.take("c")

    def test_for_each(self) -> None:
        places = Places(10, 1)
        assert [places.take(name) for name in ("a", "a", "b")] == [True, False, True]

    def test_a_place_is_held_for_a_block(self) -> None:
        places = Places(1, 1)
        with places.hold("a") as first, places.hold("a") as second:
            assert (first, second, places.taken) == (True, False, 1)
        assert places.taken == 0
