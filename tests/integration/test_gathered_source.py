"""The source of real-time queries: many partitions by few tasks, each record once, from where it stopped."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import randbytes

import orjson
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import NewTopic
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from catchment.config import Config
from catchment.kafka.clients import admin, producer, read_all, spark_options
from catchment.kafka.parties import Party
from catchment.pipeline.ledger import ledger
from catchment.pipeline.query import SOURCE, Query, start
from catchment.queries.frames.inputs import READER
from catchment.records import Kind

PARTITIONS = 5
TASKS = 2
WAIT_S = 180.0
# How long Kafka may hold an answer back when nothing comes: a test that has to wait for that fails.
FETCH_WAIT_MS = 2_000 * int(WAIT_S)
WHOLE_ROW = "to_json(struct(*))"
# The number alone, after a rest that lets a backlog last for longer than the time between two checkpoints.
RESTING = "concat(split(string(value), ' ')[0], left(java_method('java.lang.Thread', 'sleep', 1L), 0))"
# Behind a number, so that a poll does not bring all that there is.
NOISE_BYTES = 40
# Of a record that is older than the retention of its topic Kafka may take leave at any moment.
A_MINUTE_AGO_MS = time.time_ns() // 1_000_000 - 60_000


class Course:
    """A query that copies one topic to another, with its checkpoint."""

    def __init__(self, spark: SparkSession, config: Config, name: str, checkpoint: Path) -> None:
        self._spark = spark
        self._config = config
        self._checkpoint = checkpoint
        self.source, self.target = f"gathered.{name}", f"copied.{name}"
        topics = [NewTopic(self.source, PARTITIONS, 1), NewTopic(self.target, 1, 1)]
        client = admin(config)
        for made in client.create_topics(topics).values():
            made.result()

    def send(self, *numbers: int, partitions: int = PARTITIONS, noise_bytes: int = 0) -> None:
        """Numbers by turns to all partitions, or to the first ones."""
        writer = producer(self._config, Party.ADMIN)
        for number in numbers:
            noise = f" {randbytes(noise_bytes).hex()}" if noise_bytes else ""
            writer.produce(self.source, f"{number}{noise}", partition=number % partitions)
        assert writer.flush(WAIT_S) == 0

    @contextmanager
    def running(
        self, interval_s: int = 5, value: str = "value", reading: dict[str, str] | None = None
    ) -> Iterator[StreamingQuery]:
        options = spark_options(self._config, Party.ADMIN)
        found = (
            self._spark.readStream.format(SOURCE)
            .options(**options)
            .option("sourceTasks", str(TASKS))
            .option("subscribe", self.source)
            .option("startingOffsets", "earliest")
            .option("failOnDataLoss", "false")
            .option("kafka.fetch.max.wait.ms", str(FETCH_WAIT_MS))
            .option("kafka.request.timeout.ms", str(2 * FETCH_WAIT_MS))
            .option("kafka.default.api.timeout.ms", str(2 * FETCH_WAIT_MS))
            .option("includeHeaders", "true")
            .options(**(reading or {}))
            .load()
        )
        rows = (found.selectExpr("inline(_found)") if reading else found).selectExpr(f"{value} AS value")
        writer = rows.writeStream.format("kafka").options(**options).option("topic", self.target)
        query: StreamingQuery = (
            writer.option("checkpointLocation", str(self._checkpoint))
            .outputMode("update")
            .trigger(realTime=f"{interval_s} seconds")  # type: ignore[call-overload]
            .start()
        )
        try:
            yield query
        finally:
            query.stop()

    def messages(self) -> list[bytes]:
        """What has arrived, in its order."""
        return [message.value() or b"0" for message in read_all(self._config, Party.ADMIN, self.target)]

    def await_count(self, count: int, timeout_s: float = WAIT_S) -> list[bytes]:
        deadline_s = time.monotonic() + timeout_s
        while len(messages := self.messages()) < count:
            assert time.monotonic() < deadline_s, f"{len(messages)} of {count} came"
            time.sleep(0.1)
        return messages

    def copied(self) -> list[int]:
        return [int(message) for message in self.messages()]

    def await_copied(self, count: int, timeout_s: float = WAIT_S) -> list[int]:
        return [int(message) for message in self.await_count(count, timeout_s)]

    def await_checkpoint(self, more: int = 2) -> None:
        """Until so many have been made from now on."""
        wanted = self._newest_commit() + more
        deadline_s = time.monotonic() + WAIT_S
        while self._newest_commit() < wanted:
            assert time.monotonic() < deadline_s
            time.sleep(0.1)

    def _newest_commit(self) -> int:
        commits = (self._checkpoint / "commits").glob("[0-9]*")
        return max((int(file.name) for file in commits), default=-1)


@pytest.fixture
def course(spark: SparkSession, cluster: Config, tmp_path: Path, request: pytest.FixtureRequest) -> Course:
    name = re.sub(r"\W", "-", request.node.name)
    return Course(spark, cluster, name, tmp_path / "checkpoint")


def test_all_partitions_come_once_and_in_order_over_several_checkpoints(course: Course) -> None:
    course.send(*range(1_000))
    with course.running():
        course.await_copied(1_000)
        course.await_checkpoint()
        course.send(*range(1_000, 2_000))
        copied = course.await_copied(2_000)
        course.await_checkpoint(more=1)
    assert sorted(copied) == list(range(2_000))
    for partition in range(PARTITIONS):
        mine = [number for number in copied if number % PARTITIONS == partition]
        assert mine == sorted(mine)


def reading_of(topic: str) -> dict[str, str]:
    """Asks for rows that an input of a declared query makes, in the place of Kafka's columns."""
    names = ("query", "input", "selector")
    read = {"kind": "alerts", "format": "text", "names": ["value"], "types": ["string"]}
    spec = {
        "inputs": [
            {"topic": topic, "edge": 1, "first": 0, "added": [], **read, **dict.fromkeys(names, "test")}
        ],
        "columns": "value string",
        "tables": [],
    }
    return {"reading": READER, "readingSpec": orjson.dumps(spec).decode()}


@pytest.mark.parametrize("is_asked", [False, True])
def test_a_backlog_comes_once_and_in_order_over_a_checkpoint(course: Course, is_asked: bool) -> None:
    """So many come with one poll that the next are fetched, and made rows, beside the work on these.

    When the checkpoint is made all have been fetched, so that Kafka would not answer if it was asked anew.
    """
    count = 20_000
    course.send(*range(count), noise_bytes=NOISE_BYTES)
    with course.running(value=RESTING, reading=reading_of(course.source) if is_asked else None):
        course.await_checkpoint(more=1)
        until_then = len(course.messages())
        copied = course.await_copied(count)
    assert 0 < until_then < count
    assert len(copied) == count
    for partition in range(PARTITIONS):
        mine = [number for number in copied if number % PARTITIONS == partition]
        assert mine == list(range(partition, count, PARTITIONS))


def test_rows_are_those_of_sparks_own_source(course: Course, spark: SparkSession, cluster: Config) -> None:
    writer = producer(cluster, Party.ADMIN)
    headers: list[tuple[str, str | bytes | None]] = [
        ("first", b"1"),
        ("none", None),
        ("empty", b""),
        ("first", "zwölf"),
    ]
    writer.produce(course.source, b"value", b"key", 0, headers=headers)
    writer.produce(course.source, None, b"removed", 1)
    writer.produce(course.source, b"", None, 2, headers=[("lang", b"x" * 5_000)])
    writer.produce(course.source, bytes(range(256)) * 20, b"", 3, timestamp=A_MINUTE_AGO_MS)
    writer.produce(course.source, b"next", b"key", 0)
    assert writer.flush(WAIT_S) == 0
    with course.running(value=WHOLE_ROW):
        course.await_count(5)
    expected = (
        spark.read.format("kafka")
        .options(**spark_options(cluster, Party.ADMIN))
        .option("subscribe", course.source)
        .option("includeHeaders", "true")
        .load()
        .selectExpr(f"{WHOLE_ROW} AS value")
    )
    assert sorted(course.messages()) == sorted(row.value.encode() for row in expected.collect())


def test_it_reads_with_as_many_tasks_as_it_is_told_to(course: Course, spark: SparkSession) -> None:
    course.send(1)
    with course.running(interval_s=60):
        course.await_copied(1)
        tracker = spark.sparkContext.statusTracker()
        tasks = [
            info.numTasks
            for job in tracker.getActiveJobsIds()
            if (about := tracker.getJobInfo(job))
            for stage in about.stageIds
            if (info := tracker.getStageInfo(stage))
        ]
    assert tasks == [TASKS]


def test_it_goes_on_from_its_checkpoint(course: Course) -> None:
    course.send(*range(100))
    with course.running():
        course.await_copied(100)
        course.await_checkpoint()
    course.send(*range(100, 200))
    with course.running():
        assert sorted(course.await_copied(200)) == list(range(200))


def test_what_is_gone_before_it_was_read_does_not_hold_up_the_rest(course: Course, cluster: Config) -> None:
    course.send(*range(50))
    with course.running():
        course.await_copied(50)
        course.await_checkpoint()
    course.send(*range(50, 100))
    ends = [TopicPartition(course.source, partition, 20) for partition in range(PARTITIONS)]
    client = admin(cluster)
    for removed in client.delete_records(ends).values():
        removed.result()
    course.send(*range(100, 150))
    with course.running():
        assert sorted(course.await_copied(100)) == [*range(50), *range(100, 150)]


def test_quiet_partitions_do_not_hold_up_a_busy_one(course: Course) -> None:
    with course.running(interval_s=60):
        for batch in range(4):
            first = batch * 3_000
            course.send(*range(first, first + 3_000), partitions=1)
            course.await_copied(first + 3_000)


@pytest.mark.parametrize(("tasks", "shuffled"), [(1, False), (2, True)])
def test_a_query_of_one_task_shuffles_nothing(
    spark: SparkSession, cluster: Config, tasks: int, shuffled: bool
) -> None:
    settings = cluster.pipeline.model_copy(update={"source_tasks": tasks, "checkpoint_interval_s": 5})
    query = Query(
        name=f"ledger-of-{tasks}",
        reads=(Kind.RECORDS,),
        writes=(Kind.LEDGER,),
        build=lambda records, *_: ledger(records).where("topic = 'nobody reads it'"),
    )
    running = start(query, spark, cluster.model_copy(update={"pipeline": settings}))
    try:
        deadline_s = time.monotonic() + WAIT_S
        while "TransformWithState" not in (plan := running._jsq.explainInternal(False)):
            assert time.monotonic() < deadline_s, running.exception()
            time.sleep(0.1)
        assert ("Exchange" in plan) is shuffled
    finally:
        running.stop()
