"""Simulated devices with objects: what they say, and that they say it again."""

import random
from fnmatch import fnmatchcase

import orjson
from hypothesis import given
from hypothesis import strategies as st

from catchment.simulate.twins import COUNT, HIGHEST, TYPE, VALUE, Fleet, Messages, simulated_type
from catchment.twins.model import Action, ObjectChange, TwinMessage


def fleet(devices: int = 3, objects: int = 4, seed: int = 1, interval_ms: int = 1000) -> Fleet:
    return Fleet("sim", devices, objects, interval_ms, seed)


def said(fleet: Fleet, device: int, first: int = 1, count: int = 1) -> list[TwinMessage]:
    lines = Messages(fleet, device, 1_000_000).lines(first, count)
    return [TwinMessage.model_validate_json(line) for line in lines.splitlines()]


def test_a_message_sets_a_value_and_counts_for_every_object_of_the_device() -> None:
    (message,) = said(fleet(), device=1)
    assert list(message.objects) == ["sim-2-1", "sim-2-2", "sim-2-3", "sim-2-4"]
    for change in message.objects.values():
        assert (change.action, change.type) == (Action.PUT, TYPE)
        assert set(change.values) == {VALUE, COUNT}
        assert change.values[COUNT].add == 1


def test_transactions_are_all_different() -> None:
    messages = [message for device in range(3) for message in said(fleet(), device, count=20)]
    assert len({message.transaction for message in messages}) == 60


@given(st.integers(1, 100), st.integers(0, 50), st.integers(0, 5), st.integers(1, 1000))
def test_lines_are_the_same_however_they_are_cut(count: int, cut: int, device: int, first: int) -> None:
    messages = Messages(fleet(devices=6), device, 1_000_000)
    cut = min(cut, count)
    whole = messages.lines(first, count)
    assert messages.lines(first, cut) + messages.lines(first + cut, count - cut) == whole


@given(st.integers(1, 60), st.integers(0, 1000))
def test_messages_are_shared_out_whole_and_evenly(devices: int, count: int) -> None:
    shares = [fleet(devices=devices).share(device, count) for device in range(devices)]
    assert sum(shares) == count
    assert max(shares) - min(shares) <= 1


@given(st.integers(1, 50), st.integers(1, 10_000))
def test_devices_are_spread_over_the_interval(devices: int, interval_ms: int) -> None:
    many = fleet(devices=devices, interval_ms=interval_ms)
    begins = [Messages(many, device, 0).began_ms for device in range(devices)]
    assert begins == sorted(begins)
    assert begins[0] == 0
    assert begins[-1] < interval_ms


def test_another_seed_gives_other_values() -> None:
    seeds = random.sample(range(1_000_000), 20)
    assert len({Messages(fleet(seed=seed), 0, 0).lines(1, 1) for seed in seeds}) == 20


def test_the_type_that_is_declared_allows_what_is_sent() -> None:
    declared = simulated_type()
    assert any(fnmatchcase(f"stream/{fleet().stream(2)}", glob) for glob in declared.writers)
    for message in said(fleet(objects=50), 0, count=20):
        values = [_set(change) for change in message.objects.values()]
        assert all(0 <= value <= HIGHEST for value in values)
        assert len(set(values)) > 40
    assert set(declared.values) == {VALUE, COUNT}


def test_a_message_is_a_line() -> None:
    lines = Messages(fleet(objects=200), 0, 0).lines(1, 3)
    assert lines.count(b"\n") == 3
    assert all(orjson.loads(line)["objects"] for line in lines.splitlines())


def _set(change: ObjectChange) -> float:
    value = change.values[VALUE].set
    assert isinstance(value, float)
    return value
