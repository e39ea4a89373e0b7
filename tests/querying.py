"""Continuous queries in batches: records as Kafka has them, and what is left of their results in the end."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from pyspark.sql import DataFrame, Row, SparkSession

from catchment.pipeline.control import HEADERS_TYPE, Declarations
from catchment.queries.checker import check_text
from catchment.queries.compiler import compiled, query_session
from catchment.queries.frames import inputs
from catchment.records import STAMP_HEADER, Kind, Source, Stamp

SITE = "oslo"
KAFKA = (
    "topic string, partition int, offset bigint, timestamp timestamp, key binary, value binary, "
    f"headers {HEADERS_TYPE}"
)
SOURCES = [Source(SITE, "gate", 1, f"packets/{number}") for number in range(2)]


def records(rows: Sequence[dict[str, Any]], seed: int, *, repeated: bool = True) -> list[tuple[Any, ...]]:
    """Rows as records of two streams: shuffled, and some of them twice."""
    chance = random.Random(seed)
    numbered = [(SOURCES[index % 2], index // 2 + 1, row) for index, row in enumerate(rows)]
    if repeated:
        numbered += [each for each in numbered if chance.random() < 0.3]
    chance.shuffle(numbered)
    return [_message(*each, offset) for offset, each in enumerate(numbered)]


def _message(source: Source, number: int, row: dict[str, Any], offset: int) -> tuple[Any, ...]:
    stamp = Stamp(source, number, 1_700_000_000_000_000 + number).encode()
    return (
        Kind.RECORDS.topic,
        0,
        offset,
        datetime.now(UTC),
        bytearray(source.key),
        bytearray(orjson.dumps(row)),
        [Row(key=STAMP_HEADER, value=bytearray(stamp))],
    )


def messages_of(spark: SparkSession, text: str, rows: Sequence[tuple[Any, ...]]) -> DataFrame:
    """What a query writes, given all of its input at once."""
    graph = check_text(text)
    session = query_session(spark, graph)
    return compiled(graph, inputs.read(session.createDataFrame(rows, KAFKA), graph, {}), SITE, Declarations())


def settled_results(messages: DataFrame) -> dict[str, list[dict[str, Any]]]:
    """By output the rows that are there in the end: of each key the newest version, unless that is none."""
    newest: dict[bytes, tuple[int, bytes | None]] = {}
    for message in messages.where(messages.topic == Kind.RESULTS.topic).collect():
        headers = {header.key: bytes(header.value) for header in message.headers}
        version = int(headers["catchment-version"])
        key = bytes(message.key)
        before = newest.get(key)
        if before is None or version > before[0]:
            newest[key] = (version, message.value and bytes(message.value))
    found: dict[str, list[dict[str, Any]]] = {}
    for key, (_, value) in newest.items():
        output = key.decode().split("/")[2]
        found.setdefault(output, [])
        if value is not None:
            found[output].append(orjson.loads(value))
    return found
