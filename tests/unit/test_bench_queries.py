"""The benchmark of queries: what is sent, what has to come of it, and how figures are worked out."""

from collections import Counter
from typing import Any

import orjson
import pytest

from catchment.bench.python_peers import versions
from catchment.bench.queries import Course, compare
from catchment.bench.query_subjects import BYTEWAX, KAFKA_STREAMS, QUIX, says
from catchment.bench.query_together import TOGETHER
from catchment.bench.query_trial import Seen, origin_us
from catchment.bench.query_work import BEST, DEVICES, WINDOW_MS, WORKS, declared, wrong_in
from catchment.bench.result import Result
from catchment.bench.topics import MOST_SILENCES, Row, _read
from catchment.errors import PartFailed
from catchment.records import Source, Stamp

START_MS = 1_700_000_000_000
ORIGIN_US = 1_700_000_000_000_000
# None, one, about a window, and a part of the third.
COUNTS = (0, 1, 999, 1_000, 2_501)


def sent(work: str, count: int) -> list[dict[str, object]]:
    record = WORKS[work].load.record
    return [orjson.loads(record(number, START_MS).value) for number in range(count)]


@pytest.mark.parametrize("name", WORKS)
def test_every_query_is_right_and_has_state_where_it_says(name: str) -> None:
    graph = declared(name, f"{name}-2")
    assert graph.name == f"{name}-2"
    assert bool(graph.stateful) is WORKS[name].stateful


@pytest.mark.parametrize("count", COUNTS)
def test_what_is_filtered_and_mapped(count: int) -> None:
    packets = [packet for packet in sent("filter-map", count) if packet["protocol"] == "tcp"]
    expected = {row["serial"]: (str(row["host"]).upper(), 8 * int(str(row["bytes"]))) for row in packets}
    assert WORKS["filter-map"].expected(count, START_MS) == expected
    assert WORKS["filter-map"].told(count) == len(expected)


@pytest.mark.parametrize("count", COUNTS)
def test_windows_count_every_packet(count: int) -> None:
    packets = sent("windowed-count", count)
    windows = Counter((row["host"], int(str(row["time"])) // WINDOW_MS * WINDOW_MS) for row in packets)
    assert WORKS["windowed-count"].expected(count, START_MS) == windows


@pytest.mark.parametrize("count", COUNTS)
def test_the_best_of_a_window_are_those_with_most_packets(count: int) -> None:
    counts = WORKS["windowed-count"].expected(count, START_MS)
    best = WORKS["top"].expected(count, START_MS)
    for (window, rank), (host, packets) in best.items():
        assert counts[host, window] == packets
        before = [
            each for (other, at), each in counts.items() if at == window and (-each, other) < (-packets, host)
        ]
        assert len(before) == rank - 1 < BEST


@pytest.mark.parametrize("count", COUNTS)
def test_each_request_has_one_answer_of_its_device_in_its_window(count: int) -> None:
    pairs = WORKS["windowed-join"].expected(count, START_MS)
    calls = sent("windowed-join", count)
    near = [
        (ask["serial"], answer["serial"])
        for place, ask in enumerate(calls)
        for answer in calls[max(0, place - 100) : place + 101]
        if (ask["side"], answer["side"], ask["device"]) == ("requests", "answers", answer["device"])
    ]
    assert sorted(pairs.items()) == near
    windows = Counter((row["side"], row["device"], int(str(row["time"])) // WINDOW_MS) for row in calls)
    assert set(windows.values()) <= {1}
    assert 2 * DEVICES == WINDOW_MS


def test_words_are_counted() -> None:
    record = WORKS["word-count"].load.record
    words = Counter(word for number in range(50) for word in record(number, 0).value.decode().split())
    assert WORKS["word-count"].expected(50, 0) == words
    assert WORKS["word-count"].told(50) == words.total()


def test_wrong_results_are_named() -> None:
    assert wrong_in({"a": 1}, {"a": 1}) == []
    assert wrong_in({"a": 1, "b": 2}, {"a": 2}) == ["a is 1 and not 2", "b is 2 and not None"]
    assert wrong_in({}, {"a": 2}) == ["a is None and not 2"]


def result(times: int, version: int | None, origin: int = ORIGIN_US, after_ms: int = 5) -> Row:
    stamp = Stamp(Source("bench", "gateway", 1, "sentences/a"), 1, origin).encode()
    ours = (("catchment-version", b"%d" % (version or 0)), ("catchment-origin-us", b"%d" % origin))
    headers = ours if version is not None else (("catchment-stamp", stamp),)
    return Row(b"word", orjson.dumps({"word": "a", "times": times}), origin // 1000 + after_ms, headers)


def test_of_ours_the_highest_version_counts_and_of_others_the_last() -> None:
    seen, others = Seen(WORKS["word-count"]), Seen(WORKS["word-count"])
    for row in (result(2, 9), result(1, 8)):
        seen.add(row)
    for row in (result(1, None), result(2, None)):
        others.add(row)
    assert seen.results() == others.results() == {"a": 2}


def test_a_withdrawn_result_is_none() -> None:
    seen = Seen(WORKS["word-count"])
    seen.add(result(2, 8))
    seen.add(Row(b"word", None, 0, result(2, 9).headers))
    assert seen.results() == {}


def test_delays_are_from_the_record_to_the_broker() -> None:
    seen = Seen(WORKS["word-count"])
    for number in range(8):
        seen.add(result(number, None, ORIGIN_US + number, after_ms=100 if number < 4 else number))
    assert seen.written_between(ORIGIN_US, ORIGIN_US + 1) == [ORIGIN_US // 1000 + 100] * 2
    # A quarter of those since then lets it settle.
    assert seen.delays_ms(ORIGIN_US + 4) == pytest.approx([5.5, 6.5, 7.5], abs=0.1)


def test_the_origin_is_said_or_in_the_stamp() -> None:
    assert origin_us(dict(result(1, 3).headers)) == origin_us(dict(result(1, None).headers)) == ORIGIN_US


def test_a_ratio_is_that_of_the_query_in_which_ours_does_worst() -> None:
    course = Course(1, 1, 1, 1, works=("filter-map", "windowed-join"), peers=(KAFKA_STREAMS, QUIX, BYTEWAX))
    told = Result("queries")
    rates = {"": (30, 80), "kafka_streams_": (10, 40), "quix_": (5, None), "bytewax_": (10, 20)}
    for name, per_s in rates.items():
        for query, rate in zip(("filter_map", "windowed_join"), per_s, strict=True):
            if rate is not None:
                told.add(f"rate_{name}{query}", rate, "records/s")
    compare(course, told)
    assert told.ratios == {"of_kafka_streams": 2, "of_quix": 6, "of_bytewax": 3}


def test_what_a_peer_cannot_say_is_left_out() -> None:
    assert set(WORKS) - set(says(QUIX, tuple(WORKS))) == {"windowed-join"}
    assert says(BYTEWAX, tuple(WORKS)) == list(WORKS)


def test_eight_run_side_by_side() -> None:
    assert len(TOGETHER) == 8
    assert {work.name for work in TOGETHER.values()} == set(WORKS)
    # None goes on from the state of a query that was measured alone.
    assert not set(TOGETHER) & set(WORKS)


def test_versions_of_peers_are_told() -> None:
    assert set(versions()) == {"bytewax", "quixstreams"}
    told = Result("queries", packages=versions(), notes=["a note"]).as_dict()
    assert versions().items() <= told["versions"].items()
    assert told["notes"] == ["a note"]


class Client:
    """A reader of one partition with ten records, whose client falls silent now and then."""

    def __init__(self, silent_after: list[int]) -> None:
        self._silent_after = silent_after
        self._next = 0

    def assign(self, places: list[Any]) -> None:
        (place,) = places
        self._next = place.offset

    def poll(self, _: float) -> Any:
        if self._silent_after and self._next >= self._silent_after[0]:
            del self._silent_after[0]
            # What was on its way is lost with the connection.
            self._next = 99
            return None
        self._next += 1
        return Record(self._next - 1)

    def consume(self, *_: float) -> list[Any]:
        return []


class Record:
    def __init__(self, offset: int) -> None:
        self._offset = offset

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return self._offset

    def error(self) -> None:
        return None

    def headers(self) -> None:
        return None

    def key(self) -> bytes:
        return b""

    def value(self) -> bytes:
        return b"%d" % self._offset

    def timestamp(self) -> tuple[int, int]:
        return (0, 0)


def test_a_reader_that_falls_silent_is_asked_anew_and_misses_nothing() -> None:
    rows = _read(Client([3, 3, 7]), "results", {0: 2}, {0: 10})  # type: ignore[arg-type]
    assert [row.value for row in rows] == [b"%d" % offset for offset in range(2, 10)]


def test_a_reader_that_stays_silent_is_given_up() -> None:
    silent = Client([0] * MOST_SILENCES)
    with pytest.raises(PartFailed, match="partitions 0 from 2 to 10"):
        list(_read(silent, "results", {0: 2}, {0: 10}))  # type: ignore[arg-type]
