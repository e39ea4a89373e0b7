"""The benchmark of twins: what is sent, and how results are worked out from what came back."""

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.bench.result import Result
from catchment.bench.topics import Row
from catchment.bench.twin_load import Script
from catchment.bench.twin_postgres import Reports
from catchment.bench.twin_trial import (
    Applied,
    Phase,
    applied,
    first_only,
    note_delays,
    rate_per_s,
    settled_delays_ms,
)
from catchment.bench.twins import SHORT, Course, compare
from catchment.records import Stamp
from catchment.simulate.twins import COUNT, TYPE, VALUE, Fleet
from catchment.twins.model import Change

ORIGIN_US = 1_700_000_000_123_456


def script(devices: int = 2, objects: int = 3, seed: int = 1) -> Script:
    return Script("twins", Fleet("bench", devices, objects, 1000, seed))


def row(key: str = "twins/a", count: int = 1, origin_us: int = ORIGIN_US, after_ms: int = 5) -> Applied:
    return Applied(key, count, origin_us, origin_us // 1000 + after_ms)


def test_a_change_is_what_the_split_writes() -> None:
    key, header, value = script().record(4, ORIGIN_US)
    change, stamp = Change.model_validate_json(value), Stamp.decode(header)
    assert key.decode() == change.key == "twins/bench-2-2"
    assert change.user == f"stream/{stamp.source.stream}" == "stream/twins-bench-2"
    assert (change.transaction, change.at_ms) == (str(ORIGIN_US), ORIGIN_US // 1000)
    assert (stamp.sequence, stamp.origin_us) == (1, ORIGIN_US)
    assert change.change.type == TYPE
    assert change.change.values[COUNT].add == 1
    assert isinstance(change.change.values[VALUE].set, float)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 60))
def test_objects_take_turns_and_their_sources_count(devices: int, objects: int, changes: int) -> None:
    sent = [script(devices, objects).record(number, ORIGIN_US) for number in range(changes)]
    counted: dict[str, int] = dict.fromkeys(script(devices, objects).counts(0), 0)
    for key, header, _ in sent:
        counted[key.decode()] += 1
        assert Stamp.decode(header).sequence == counted[key.decode()]
    assert counted == script(devices, objects).counts(changes)


def test_the_same_seed_gives_the_same_changes() -> None:
    first, again, other = (script(seed=seed).record(1, ORIGIN_US) for seed in (1, 1, 2))
    assert first == again != other


def test_the_changelog_says_what_was_applied_and_when() -> None:
    twin = {"site": "twins", "id": "a", "transaction": str(ORIGIN_US), "values": {COUNT: 7, VALUE: 1.5}}
    rows = [Row(b"twins/a", orjson.dumps(twin), ORIGIN_US // 1000 + 4), Row(b"twins/b", None, 0)]
    (found,) = applied(rows)
    assert (found.key, found.count) == ("twins/a", 7)
    assert found.delay_ms == pytest.approx(4 + 0.5 - 0.456, abs=0.001)


def test_what_comes_again_after_a_crash_does_not_count() -> None:
    first, again, next_one = row(after_ms=5), row(after_ms=900), row(origin_us=ORIGIN_US + 1)
    assert first_only([first, next_one, again]) == [first, next_one]


def test_a_rate_is_that_of_the_warm_part() -> None:
    slow = [1_000 + 100 * each for each in range(40)]
    quick = [5_000 + 10 * each for each in range(60)]
    assert rate_per_s([*quick, *slow]) == pytest.approx(100)


def test_delays_are_those_of_the_settled_part() -> None:
    early = [row(origin_us=ORIGIN_US + each, after_ms=500) for each in range(25)]
    late = [row(origin_us=ORIGIN_US + 25 + each, after_ms=5) for each in range(75)]
    delays = settled_delays_ms([*late, *early])
    assert len(delays) == 75
    assert max(delays) < 6


def test_phases_are_told_apart_by_origin() -> None:
    phase = Phase(began_us=ORIGIN_US, ended_us=ORIGIN_US + 10)
    inside = [row(origin_us=ORIGIN_US), row(origin_us=ORIGIN_US + 10)]
    assert phase.of([row(origin_us=ORIGIN_US - 1), *inside, row(origin_us=ORIGIN_US + 11)]) == inside


def test_reports_are_read_line_by_line_and_taken_in_order(tmp_path: Path) -> None:
    log = tmp_path / "postgres.out"
    log.write_bytes(b'some warning\n{"at_us": 10, "delays_ms": [1.5, 2]}\n{"at_us": 20, "del')
    reports = Reports(log)
    assert reports.read() == 2
    with log.open("ab") as file:
        file.write(b'ays_ms": [3]}\n')
    assert reports.read() == 3
    assert reports.take(2) == [(10, 1.5), (10, 2)]
    assert reports.read() == 1


def test_ratios_are_those_of_the_store_in_which_ours_does_worse() -> None:
    result = Result("twins")
    for name, rate, delay_ms in (
        ("rocksdb", 30_000, 8.0),
        ("memory", 40_000, 6.0),
        ("kafka_streams_rocksdb", 25_000, 5.0),
        ("kafka_streams_memory", 40_000, 2.0),
    ):
        result.add(f"rate_{name}", rate, "objects/s")
        note_delays(result, f"delay_{name}_10000", [delay_ms])
    result.add("rate_postgres", 2_000, "objects/s")
    compare(Course(("rocksdb", "memory"), 1, (10_000,), 1, 1), result)
    assert result.ratios == {"of_kafka_streams": 1.0, "delay_of_kafka_streams": 3.0, "of_postgres": 15.0}


def test_a_short_run_has_what_the_ratios_need() -> None:
    assert 10_000 in SHORT.rates_per_s
    assert len(SHORT.fleet.objects_of(0)) * SHORT.fleet.devices == 10_000
