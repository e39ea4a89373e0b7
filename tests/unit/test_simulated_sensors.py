"""Simulated sensors: the physics of their temperature, and the lines that they send."""

import math
import random

import orjson
from hypothesis import given
from hypothesis import strategies as st

from catchment.simulate.sensors import Plant, Readings
from catchment.simulate.temperature import Curve, Unit

TEMPERATURES = st.floats(-200, 2000)
TIMES = st.floats(0, 100_000)


def plant(count: int = 1, providers: int = 1, seed: int = 1, interval_ms: int = 1000) -> Plant:
    curve = Curve(20, 80, noise=0.5, spike_share=0.01, spike_size=20)
    return Plant("sim", count, providers, curve, Unit.C, interval_ms, seed)


def sent(plant: Plant, provider: int, first: int, count: int) -> list[dict[str, object]]:
    lines = Readings(plant, provider, 1_000_000).lines(first, count)
    return [orjson.loads(line) for line in lines.splitlines()]


@given(TEMPERATURES, TEMPERATURES)
def test_a_curve_begins_at_its_start_and_covers_63_percent_in_30_seconds(start: float, target: float) -> None:
    curve = Curve(start, target)
    assert math.isclose(curve.at(0), start, abs_tol=1e-9)
    assert math.isclose(curve.at(30), target + (start - target) / math.e, abs_tol=1e-9)
    assert math.isclose(curve.at(3000), target, abs_tol=1e-9)


@given(TEMPERATURES, TEMPERATURES, TIMES, TIMES)
def test_a_curve_comes_ever_closer_and_never_goes_beyond(
    start: float, target: float, one_s: float, other_s: float
) -> None:
    curve, (early_s, late_s) = Curve(start, target), sorted((one_s, other_s))
    assert abs(target - curve.at(late_s)) <= abs(target - curve.at(early_s)) + 1e-9
    assert min(start, target) - 1e-9 <= curve.at(late_s) <= max(start, target) + 1e-9


@given(TEMPERATURES, TIMES, st.floats(0, 10), st.text())
def test_noise_is_bounded_and_the_same_for_the_same_seed(
    target: float, elapsed_s: float, noise: float, seed: str
) -> None:
    curve = Curve(20, target, noise=noise)
    reading = curve.reading(elapsed_s, seed)
    assert abs(reading - curve.at(elapsed_s)) <= noise + 1e-9
    assert reading == curve.reading(elapsed_s, seed)


def test_noise_is_uniform_and_spikes_are_as_many_as_wanted() -> None:
    curve = Curve(20, 20, noise=1, spike_share=0.1, spike_size=50)
    off = [curve.reading(0, str(number)) - 20 for number in range(20_000)]
    spikes = [each for each in off if abs(each) > 10]
    assert 0.09 < len(spikes) / len(off) < 0.11
    assert {49 <= abs(each) <= 51 for each in spikes} == {True}
    assert min(spikes) < 0 < max(spikes)
    plain = sorted(each for each in off if abs(each) <= 1)
    quartiles = [plain[len(plain) * share // 4] for share in (1, 2, 3)]
    assert all(abs(found - wanted) < 0.05 for found, wanted in zip(quartiles, (-0.5, 0, 0.5), strict=True))


def test_a_reading_has_what_the_shipped_schema_wants() -> None:
    (reading,) = sent(plant(), 0, first=31, count=1)
    assert reading["sensor_id"] == "sim"
    assert reading["timestamp"] == 1_000_000 + 30_000
    assert reading["unit"] == "C"
    assert isinstance(reading["temperature"], float)


def test_sensors_take_turns_and_are_spread_over_the_interval() -> None:
    readings = sent(plant(count=4), 0, first=1, count=8)
    assert [each["sensor_id"] for each in readings] == [f"sim-0000{n}" for n in (1, 2, 3, 4)] * 2
    assert [each["timestamp"] for each in readings] == [1_000_000 + 250 * n for n in range(8)]


@given(st.integers(1, 50), st.integers(1, 10))
def test_every_sensor_belongs_to_one_provider(count: int, providers: int) -> None:
    many = plant(count, min(providers, count))
    shared = [sensor for provider in range(many.providers) for sensor in many.of_provider(provider)]
    assert sorted(shared) == many.sensors()


@given(st.integers(1, 1000), st.integers(1, 50), st.integers(0, 50))
def test_lines_are_the_same_however_they_are_cut(first: int, count: int, cut: int) -> None:
    readings = Readings(plant(count=7), 0, 1_000_000)
    cut = min(cut, count)
    whole = readings.lines(first, count)
    assert readings.lines(first, cut) + readings.lines(first + cut, count - cut) == whole


def test_another_seed_gives_other_readings() -> None:
    seeds = random.sample(range(1_000_000), 20)
    assert len({str(sent(plant(seed=seed), 0, 1, 5)) for seed in seeds}) == 20
