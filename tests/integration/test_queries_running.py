"""Continuous queries on the running stream: exact over repeats, disorder and a stop in the middle."""

import random
import time
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from confluent_kafka import Message
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from typer.testing import CliRunner

from catchment.cli.main import app
from catchment.config import Config
from catchment.kafka.clients import producer, read_all
from catchment.kafka.parties import Party
from catchment.queries.checker import check_text
from catchment.queries.running import launch, query_of
from catchment.records import REASON_HEADER, STAMP_HEADER, Kind, Source, Stamp

WAIT_S = 180.0
SECOND_MS = 1000
SOURCES = [Source("oslo", "gate", 1, f"packets/{number}") for number in range(3)]

BUSIEST = """
name: busiest
parallelism: 1
inputs:
  packets: {records: 'packets/*', schema: {at: timestamp, host: string, bytes: bigint}, time: at}
boxes:
  counts:
    aggregate: packets
    by: [host]
    window: {tumbling: 10s}
    values: {contacts: count(*), size: sum(bytes)}
  busiest: {top: counts, by: [window_start], order_by: 'contacts desc, host', limit: 1}
  large: {filter: packets, where: bytes >= 900}
outputs:
  counts: {from: counts}
  busiest: {from: busiest, say: 'most contacted was {host}'}
  large: {from: large}
"""


@pytest.fixture(scope="module")
def config(cluster: Config) -> Config:
    settings = cluster.pipeline.model_copy(update={"checkpoint_interval_s": 5})
    return cluster.model_copy(update={"pipeline": settings})


def with_source_tasks(config: Config, tasks: int) -> Config:
    return config.model_copy(update={"pipeline": config.pipeline.model_copy(update={"source_tasks": tasks})})


def send(config: Config, rows: list[tuple[Source, int, dict[str, Any] | bytes]]) -> None:
    writer = producer(config, Party.GATEWAY)
    for source, number, content in rows:
        stamp = Stamp(source, number, time.time_ns() // 1000).encode()
        value = content if isinstance(content, bytes) else orjson.dumps(content)
        writer.produce(Kind.RECORDS.topic, value, source.key, headers=[(STAMP_HEADER, stamp)])
    assert writer.flush(WAIT_S) == 0


def header(message: Message, name: str) -> str:
    value = dict(message.headers() or [])[name]
    assert isinstance(value, bytes)
    return value.decode()


def results(config: Config, query: str, output: str) -> list[dict[str, Any]]:
    """The rows that are there now: of each key the newest version, unless that is none."""
    newest: dict[bytes, tuple[int, bytes | None]] = {}
    for message in read_all(config, Party.OPERATOR, Kind.RESULTS.topic):
        key = message.key() or b""
        if key.startswith(f"{config.site}/{query}/{output}/".encode()):
            version = int(header(message, "catchment-version"))
            newest[key] = max(
                newest.get(key, (0, None)), (version, message.value()), key=lambda each: each[0]
            )
    return [orjson.loads(value) for _, value in newest.values() if value is not None]


def wait_for(reached: Any, wait_s: float = WAIT_S) -> None:
    deadline = time.monotonic() + wait_s
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.5)


def failed(running: StreamingQuery) -> bool:
    return running.exception() is not None


@pytest.mark.parametrize("tasks", [1, 2])
def test_results_are_those_of_a_batch_though_the_query_is_stopped_in_the_middle(
    config: Config, spark: SparkSession, tasks: int
) -> None:
    name = f"busiest-{tasks}"
    config = with_source_tasks(config, tasks)
    chance = random.Random(7)
    rows: list[tuple[Source, int, dict[str, Any] | bytes]] = [
        (
            source,
            number,
            {"at": chance.randrange(60) * SECOND_MS, "host": chance.choice("abcd"), "bytes": number},
        )
        for source in SOURCES
        for number in range(1, 1001)
    ]
    sent = rows * 2
    chance.shuffle(sent)
    sent.insert(100, (SOURCES[0], 5000, b"no json"))
    graph = check_text(BUSIEST.replace("name: busiest", f"name: {name}").replace("lism: 1", f"lism: {tasks}"))
    send(config, sent[: len(sent) // 2])
    running = launch(graph, query_of(graph, config), spark, config)
    wait_for(lambda: failed(running) or len(results(config, name, "counts")) >= 24)
    # Beyond the first checkpoint, so that there is something to go back to.
    time.sleep(8)
    running.stop()
    # As after a crash: what was in memory is gone, and the state of the checkpoint is all there is.
    assert spark._jvm
    spark._jvm.catchment.control.Seals.forget(f"{name}/")
    send(config, sent[len(sent) // 2 :])
    running = launch(graph, query_of(graph, config), spark, config)
    contents = [content for _, _, content in rows if isinstance(content, dict)]
    counts = Counter((row["host"], row["at"] // 10_000) for row in contents)

    def counted() -> dict[tuple[str, int], int]:
        found = results(config, name, "counts")
        return {(row["host"], int(row["window_start"][17:19]) // 10): row["contacts"] for row in found}

    try:
        wait_for(lambda: failed(running) or counted() == counts)
    finally:
        running.stop()
    assert counted() == counts
    first = {
        window: min((-n, host) for (host, at), n in counts.items() if at == window) for window in range(6)
    }
    busiest = results(config, name, "busiest")
    assert {
        int(row["window_start"][17:19]) // 10: (-row["contacts"], row["host"]) for row in busiest
    } == first
    assert all(row["text"] == f"most contacted was {row['host']}" for row in busiest)
    large = results(config, name, "large")
    assert Counter(row["bytes"] for row in large) == Counter(dict.fromkeys(range(900, 1001), 3))
    letters = read_all(config, Party.OPERATOR, Kind.DEADLETTER.topic)
    reasons = [header(each, REASON_HEADER) for each in letters if each.value() == b"no json"]
    own = [reason for reason in reasons if reason.startswith(f"query {name},")]
    assert own
    assert all(reason.startswith(f"query {name}, input packets: it is no JSON") for reason in own)


def test_a_sample_of_what_a_node_has_shows_what_passes_each_arrow(
    config: Config, spark: SparkSession, tmp_path: Path
) -> None:
    source = Source("oslo", "gate", 1, "sampled/one")
    old = [(source, number, {"at": 0, "host": "old", "bytes": 1}) for number in range(1, 4)]
    new = [(source, number, {"at": 1000, "host": "new", "bytes": 900}) for number in range(4, 7)]
    send(config, [*old, *new, new[-1]])
    file = tmp_path / "query.yaml"
    file.write_text(BUSIEST.replace("packets/*", "sampled/*"))
    settings = tmp_path / "node.yaml"
    settings.write_text(yaml.safe_dump(config.model_dump(mode="json", exclude_none=True)))
    command = ["query", "run", str(file), "--node", "--messages", "4", "--json"]
    outcome = CliRunner().invoke(app, ["--config", str(settings), *command])
    assert outcome.exit_code == 0, outcome.output
    streams = orjson.loads(outcome.output)
    assert [row["host"] for row in streams["packets"]] == ["new"] * 3
    assert {row["stream"] for row in streams["packets"]} == {"sampled/one"}
    assert [(row["host"], row["contacts"], row["size"]) for row in streams["counts"]] == [("new", 3, 2700)]
    assert [(row["host"], row["rank"]) for row in streams["busiest"]] == [("new", 1)]
    assert len(streams["large"]) == 3
