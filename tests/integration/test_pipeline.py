"""The pipeline on the running stream: exact across kills, and honest about a query that fails."""

import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from catchment.config import Config
from catchment.health import State
from catchment.kafka.access import ensure_access, entries, filter_for
from catchment.kafka.clients import admin, producer, read_all
from catchment.kafka.parties import Party
from catchment.ledger.model import LedgerRow, decode
from catchment.records import ORIGIN_HEADER, REASON_HEADER, STAMP_HEADER, Kind, Source, Stamp
from tests.running_part import report_of, running_part

WAIT_S = 180.0


@pytest.fixture(scope="module")
def config(cluster: Config) -> Config:
    settings = cluster.pipeline.model_copy(
        update={"checkpoint_interval_s": 5, "restart_backoff_max_s": 2, "queries": ["ledger"]}
    )
    return cluster.model_copy(update={"pipeline": settings})


@pytest.fixture(scope="module")
def pipeline(config: Config) -> Iterator[None]:
    with running_part(config, "pipeline"):
        yield


def produce(config: Config, source: Source, numbers: list[int]) -> None:
    writer = producer(config, Party.GATEWAY)
    for number in numbers:
        stamp = Stamp(source, number, time.time_ns() // 1000).encode()
        writer.produce(Kind.RECORDS.topic, b"payload", source.key, headers=[(STAMP_HEADER, stamp)])
    assert writer.flush(WAIT_S) == 0


def row_of(config: Config, source: Source) -> LedgerRow | None:
    rows = [
        decode(LedgerRow, message.value())
        for message in read_all(config, Party.OPERATOR, Kind.LEDGER.topic)
        if message.key() == source.identity
    ]
    return max(rows, key=lambda row: row.version, default=None)


def wait_for(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.3)


def wait_for_version(config: Config, source: Source, version: int) -> LedgerRow:
    found: list[LedgerRow] = []

    def arrived() -> bool:
        row = row_of(config, source)
        found[:] = [row] if row else []
        return row is not None and row.version >= version

    wait_for(arrived)
    return found[0]


def wait_for_checkpoint(config: Config) -> None:
    """Until one has been made of all that is counted now."""
    commits = config.paths.checkpoints / "ledger" / "commits"

    def newest() -> int:
        return max((int(file.name) for file in commits.glob("[0-9]*")), default=-1)

    before = newest()
    wait_for(lambda: newest() >= before + 2)


def test_the_ledger_is_exact_when_the_pipeline_is_killed_in_between(config: Config) -> None:
    source = Source("oslo", "gate", 1, "shuffled")
    numbers = [number for number in range(1, 3001) if number % 500] * 2
    random.Random(7).shuffle(numbers)
    half = len(numbers) // 2
    with running_part(config, "pipeline"):
        produce(config, source, numbers[:1000])
        wait_for_version(config, source, 1000)
        wait_for_checkpoint(config)
        produce(config, source, numbers[1000:half])
        wait_for_version(config, source, half)
    with running_part(config, "pipeline"):
        produce(config, source, numbers[half:])
        row = wait_for_version(config, source, len(numbers))
    seen: set[int] = set()
    late = 0
    for number in numbers:
        late += number not in seen and number < max(seen, default=0)
        seen.add(number)
    assert row.version == len(numbers)
    assert (row.received, row.duplicates, row.out_of_order) == (len(seen), len(numbers) - len(seen), late)
    assert row.gaps == [(missing, missing) for missing in range(500, max(seen), 500)]


@pytest.mark.usefixtures("pipeline")
class TestRunning:
    def test_a_record_without_a_stamp_goes_to_the_dead_letters(self, config: Config) -> None:
        writer = producer(config, Party.GATEWAY)
        writer.produce(Kind.RECORDS.topic, b"who am I?", b"nobody")
        writer.flush(WAIT_S)

        def buried() -> bool:
            letters = read_all(config, Party.OPERATOR, Kind.DEADLETTER.topic)
            return any(
                message.value() == b"who am I?"
                and (REASON_HEADER, b"invalid-stamp") in (message.headers() or [])
                for message in letters
            )

        wait_for(buried)

    def test_rows_that_follow_each_other_closely_are_one_and_the_last_is_there(self, config: Config) -> None:
        source = Source("oslo", "gate", 1, "hurried")
        produce(config, source, list(range(1, 5001)))
        row = wait_for_version(config, source, 5000)
        assert (row.received, row.highest, row.missing) == (5000, 5000, 0)
        written = [
            message
            for message in read_all(config, Party.OPERATOR, Kind.LEDGER.topic)
            if message.key() == source.identity
        ]
        assert len(written) < 2500
        assert all(ORIGIN_HEADER in dict(message.headers() or []) for message in written)

    def test_rates_and_delay_are_reported(self, config: Config) -> None:
        source = Source("oslo", "gate", 1, "measured")
        first = 1

        def shown() -> bool:
            nonlocal first
            produce(config, source, list(range(first, first + 50)))
            first += 50
            figures = query_figures(config)
            measured = figures["rows_in_per_s"] > 0 and figures["rows_out_per_s"] > 0
            # Records that waited for the pipeline to start have a long delay; those of now have not.
            delay_ms = figures["delay_ms"]
            return measured and delay_ms is not None and bool(delay_ms < 60_000)

        wait_for(shown)

    def test_a_query_that_fails_says_why_and_comes_back(self, config: Config) -> None:
        source = Source("oslo", "gate", 1, "forbidden")
        rights = [
            entry
            for entry in entries()
            if entry.principal == Party.PIPELINE.principal and entry.name == LEDGER
        ]
        client = admin(config)
        for removed in client.delete_acls([filter_for(entry) for entry in rights]).values():
            removed.result()
        try:
            produce(config, source, [1, 2, 3])
            wait_for(lambda: query_figures(config)["restarts"] > 0)
            assert "authorized" in query_figures(config)["last_error"]
        finally:
            ensure_access(config)
        assert wait_for_version(config, source, 3).received == 3
        wait_for(lambda: query_figures(config)["state"] == State.RUNNING)


LEDGER = Kind.LEDGER.topic


def query_figures(config: Config) -> dict[str, Any]:
    report = report_of(config, "pipeline")
    assert report
    return dict(report.figures["queries"][0])
