"""The lake killed at random moments while records and results flow: it has what the log has, once each."""

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from confluent_kafka import Producer

from catchment.config import Config
from catchment.kafka.clients import producer, read_all
from catchment.kafka.parties import Party
from catchment.lake.answers import answer_of
from catchment.lake.results import ResultTable
from catchment.lake.sql import ask
from catchment.lake.tables import lake_of
from catchment.records import STAMP_HEADER, TABLE_HEADER, VERSION_HEADER, Kind, Source, Stamp
from tests.running_node import clean_environment

# `CATCHMENT_TEST_KILLS=20` takes some minutes.
KILLS = int(os.environ.get("CATCHMENT_TEST_KILLS", "2"))
PREFIX = "lake-killed-"
SOURCES = [Source("local", "gate", 1, f"{PREFIX}{number}") for number in range(3)]
COUNTS = ResultTable("killed_counts", "killed", "counts", {"room": "string", "n": "long"})
ROOMS = 40
FROM_RECORDS = f"FROM records WHERE stream LIKE '{PREFIX}%'"
WAIT_S = 150.0
# The lake's two queries alone, in a Spark of their own.
PROGRAM = """
import sys
from pathlib import Path
from catchment.config import load
from catchment.pipeline import lake, result_tables, session

config = load(Path(sys.argv[1]))
spark = session.create(config.pipeline, 4, config.paths.data / "spark")
result_tables.start(spark, config)
lake.start(spark, config)
spark.streams.awaitAnyTermination()
"""

pytestmark = pytest.mark.timeout(WAIT_S * (KILLS + 2))


@pytest.fixture
def config(cluster: Config, tmp_path: Path) -> Config:
    """A pipeline of its own beside the shared broker."""
    (tmp_path / "identities").symlink_to(cluster.paths.identities)
    lake = cluster.lake.model_copy(update={"interval_s": 0.2, "topics": [Kind.RECORDS]})
    return cluster.model_copy(update={"data_dir": tmp_path, "lake": lake})


@contextmanager
def records_flowing(config: Config) -> Iterator[None]:
    """Writes records all the time, of which some are repeated and some come late."""
    ended = threading.Event()
    thread = threading.Thread(target=_write, args=(config, ended))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _write(config: Config, ended: threading.Event) -> None:
    chance, number = random.Random(5), 0
    writer, results = producer(config, Party.GATEWAY), producer(config, Party.PIPELINE)
    while not ended.wait(0.2):
        numbers = list(range(number + 1, number + 51))
        number += 50
        numbers[20:22] = reversed(numbers[20:22])
        numbers += chance.choices(range(1, number + 1), k=5)
        for source in SOURCES:
            for each in numbers:
                stamp = Stamp(source, each, each).encode()
                writer.produce(Kind.RECORDS.topic, b"%d" % each, source.key, headers=[(STAMP_HEADER, stamp)])
        _write_results(results, number, chance)
        assert writer.flush(30) == 0
        assert results.flush(30) == 0


def _write_results(writer: Producer, version: int, chance: random.Random) -> None:
    """New versions of some rows, of which some withdraw it, and some come twice."""
    for room in chance.choices(range(ROOMS), k=20):
        content = orjson.dumps({"room": f"r{room}", "n": version}) if chance.random() < 0.8 else None
        headers = [(VERSION_HEADER, b"%d" % version), (TABLE_HEADER, COUNTS.text.encode())]
        for _ in range(chance.choice((1, 1, 2))):
            writer.produce(Kind.RESULTS.topic, content, f"local/killed/counts/{room}", headers=[*headers])


def counts_in_the_log(config: Config) -> dict[str, int]:
    """Of each row what was said of it last."""
    said = {
        message.key(): orjson.loads(message.value() or b"null")
        for message in read_all(config, Party.OPERATOR, Kind.RESULTS.topic)
        if (message.key() or b"").startswith(b"local/killed/")
    }
    return {row["room"]: row["n"] for row in said.values() if row}


def counts_in_the_lake(config: Config) -> list[tuple[str, int]]:
    if COUNTS.table not in lake_of(config).names():
        return []
    return [(room, n) for room, n in asked(config, f"SELECT room, n FROM {COUNTS.table}")]


def in_the_log(config: Config) -> set[tuple[str, int, str]]:
    rows = set()
    for message in read_all(config, Party.OPERATOR, Kind.RECORDS.topic):
        header = dict(message.headers() or []).get(STAMP_HEADER)
        if isinstance(header, bytes) and PREFIX.encode() in header:
            stamp = Stamp.decode(header)
            rows.add((stamp.source.stream, stamp.sequence, (message.value() or b"").decode()))
    return rows


def in_the_lake(config: Config) -> Counter[tuple[str, int, str]]:
    rows = asked(config, f"SELECT stream, sequence, value {FROM_RECORDS}")
    return Counter((stream, sequence, value) for stream, sequence, value in rows)


def rows_in_the_lake(config: Config) -> int:
    there = "records" in lake_of(config).names()
    return int(asked(config, f"SELECT count(*) {FROM_RECORDS}")[0][0]) if there else 0


def asked(config: Config, question: str) -> list[list[Any]]:
    with ask(lake_of(config), question, config.lake.analysis) as reader:
        return answer_of(reader, 10_000_000).rows


@contextmanager
def lake_running(config: Config) -> Iterator[None]:
    """The lake's queries, killed at the end."""
    file = config.data_dir / "lake.yaml"
    file.write_text(yaml.safe_dump(config.model_dump(mode="json", exclude_none=True)))
    errors = (config.data_dir / "lake.err").open("ab")
    command = [sys.executable, "-c", PROGRAM, str(file)]
    with errors, subprocess.Popen(command, env=clean_environment(), stderr=errors) as process:
        try:
            yield
        finally:
            process.kill()


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def has_more_than(config: Config, rows: int) -> bool:
    return rows_in_the_lake(config) > rows


def test_the_lake_has_what_the_log_has_once_each(config: Config) -> None:
    chance = random.Random(11)
    with records_flowing(config):
        for _ in range(KILLS):
            before = rows_in_the_lake(config)
            with lake_running(config):
                wait_until(partial(has_more_than, config, before))
                time.sleep(chance.uniform(0, 2))
    expected, counts = in_the_log(config), sorted(counts_in_the_log(config).items())
    with lake_running(config):
        wait_until(lambda: rows_in_the_lake(config) >= len(expected))
        wait_until(lambda: sorted(counts_in_the_lake(config)) == counts)
    found = in_the_lake(config)
    assert set(found) == expected
    assert max(found.values()) == 1
