"""The end of queries at Kafka: all rows, in order, however densely they come; a query that cannot ends."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Message
from confluent_kafka.admin import NewTopic
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's own documentation uses
from pyspark.sql.streaming.query import StreamingQuery

from catchment.config import Config
from catchment.kafka.clients import admin, producer, read_all, spark_options
from catchment.kafka.parties import Party
from catchment.pipeline import operators
from catchment.pipeline.query import SOURCE, TO_KAFKA
from catchment.records import Kind

WAIT_S = 180.0
# More than may wait for Kafka at once, so that the query has to wait, too.
BACKLOG = 30_000

Headers = list[tuple[str, str | bytes | None]]


def make(config: Config, *topics: str) -> None:
    client = admin(config)
    for made in client.create_topics([NewTopic(topic, 1, 1) for topic in topics]).values():
        made.result()


@contextmanager
def copying(
    spark: SparkSession, config: Config, party: Party, source: str, target: str, checkpoint: Path
) -> Iterator[StreamingQuery]:
    """Copies one topic to another, which a party writes."""
    rows = (
        spark.readStream.format(SOURCE)
        .options(**spark_options(config, Party.ADMIN))
        .option("sourceTasks", "1")
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .load()
        .select(F.lit(target).alias("topic"), "key", "value", "headers")
    )
    settings = spark_options(config, party).items()
    query: StreamingQuery = (
        operators.writing(rows, TO_KAFKA, {name.removeprefix("kafka."): value for name, value in settings})
        .option("checkpointLocation", str(checkpoint))
        .outputMode("update")
        .trigger(realTime="5 seconds")  # type: ignore[call-overload]
        .start()
    )
    try:
        yield query
    finally:
        query.stop()


def send(config: Config, topic: str, numbers: range) -> None:
    writer = producer(config, Party.ADMIN)
    for number in numbers:
        headers: Headers = [("number", b"%d" % number), ("none", None)]
        writer.produce(topic, value_of(number), b"key", headers=headers)
        writer.poll(0)
    assert writer.flush(WAIT_S) == 0


def value_of(number: int) -> bytes | None:
    return None if number % 1_000 == 7 else b"%d" % number


def await_all(config: Config, topic: str, count: int) -> list[Message]:
    deadline_s = time.monotonic() + WAIT_S
    while len(found := list(read_all(config, Party.ADMIN, topic))) < count:
        assert time.monotonic() < deadline_s, f"{len(found)} of {count} came"
        time.sleep(0.2)
    return found


def test_all_rows_come_in_order_from_a_backlog_and_one_by_one(
    spark: SparkSession, cluster: Config, tmp_path: Path
) -> None:
    source, target = "to-kafka.ordered", "to-kafka.copied"
    make(cluster, source, target)
    send(cluster, source, range(BACKLOG))
    with copying(spark, cluster, Party.ADMIN, source, target, tmp_path):
        await_all(cluster, target, BACKLOG)
        for number in range(BACKLOG, BACKLOG + 20):
            send(cluster, source, range(number, number + 1))
        found = await_all(cluster, target, BACKLOG + 20)
    numbers = range(BACKLOG + 20)
    headers = [dict(message.headers() or []) for message in found]
    assert headers == [{"number": b"%d" % number, "none": None} for number in numbers]
    assert [message.value() for message in found] == [value_of(number) for number in numbers]
    assert {message.key() for message in found} == {b"key"}


def test_a_query_that_may_not_write_ends_and_says_why(
    spark: SparkSession, cluster: Config, tmp_path: Path
) -> None:
    source = "to-kafka.refused"
    make(cluster, source)
    send(cluster, source, range(10))
    with copying(spark, cluster, Party.PIPELINE, source, Kind.RECORDS.topic, tmp_path) as query:
        deadline_s = time.monotonic() + WAIT_S
        while query.isActive:
            assert time.monotonic() < deadline_s
            time.sleep(0.1)
        assert "TopicAuthorizationException" in str(query.exception())
