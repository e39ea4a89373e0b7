"""A query on the newest messages of a node, in batch: nothing is written, and what is deployed goes on."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from confluent_kafka import Message
from pyspark.sql import Row, SparkSession

from catchment.config import Config
from catchment.errors import BrokerUnavailable
from catchment.kafka.clients import read_all
from catchment.kafka.parties import Party
from catchment.kafka.table import Tables
from catchment.pipeline.control import HEADERS_TYPE, read_declarations
from catchment.queries.book import QueryBook
from catchment.queries.checker import check
from catchment.queries.compiler import query_session, streams_of_messages
from catchment.queries.frames.inputs import TOPICS
from catchment.queries.graph import Graph
from catchment.queries.model import Output
from catchment.queries.running import declared_kinds, schemas_of, stored_tables
from catchment.queries.trial import Trial
from catchment.schemas.registry import SchemaRegistry
from catchment.twins.declarations import TwinDeclarations

PARTY = Party.OPERATOR
READY_S = 30.0
MESSAGES = (
    "topic string, partition int, offset bigint, timestamp timestamp, key binary, value binary, "
    f"headers {HEADERS_TYPE}"
)


def sampled(config: Config, text: str, spark: SparkSession, most: int) -> Trial:
    """A query over at most so many messages of each partition that it reads, with the tables of now."""
    graph = graph_at(config, text)
    session = query_session(spark, graph)
    topics = {TOPICS[each.kind].topic for each in graph.query.inputs.values()}
    messages = (each for topic in topics for each in read_all(config, PARTY, topic, newest=most))
    rows = session.createDataFrame([_row(each) for each in messages], MESSAGES)
    declared = read_declarations(config, declared_kinds(graph), (), PARTY)
    schemas = schemas_of(graph, config, session, PARTY)
    stored = stored_tables(graph, config, session)
    return Trial(graph, streams_of_messages(graph, rows, config.site, declared, schemas, stored))


def graph_at(config: Config, text: str) -> Graph:
    """The graph of a query with what the node knows, in which every column of every input is needed."""
    with _book(config) as book:
        query = book.check_text(text).query
        shown = {f"sampled_{name}": Output(source=name) for name in query.inputs}
        whole = query.model_copy(update={"outputs": {**query.outputs, **shown}})
        return check(whole, book.known(without=query.name))


@contextmanager
def _book(config: Config) -> Iterator[QueryBook]:
    tables = Tables(config, PARTY)
    schemas = SchemaRegistry(config.site, tables)
    book = QueryBook(config.site, tables, schemas, TwinDeclarations(config.site, tables, schemas))
    tables.start()
    try:
        deadline = time.monotonic() + READY_S
        while not tables.caught_up:
            if time.monotonic() > deadline:
                raise BrokerUnavailable(
                    "The node's declarations were not read in time", "See that the broker runs."
                )
            time.sleep(0.05)
        yield book
    finally:
        tables.stop()


def _row(message: Message) -> tuple[Any, ...]:
    _, logged_ms = message.timestamp()
    return (
        message.topic(),
        message.partition(),
        message.offset(),
        datetime.fromtimestamp(logged_ms / 1000, UTC),
        _bytes(message.key()),
        _bytes(message.value()),
        [Row(key=name, value=_bytes(value)) for name, value in _headers(message)],
    )


def _headers(message: Message) -> Iterable[tuple[str, Any]]:
    found: Any = message.headers()
    return found or []


def _bytes(value: Any) -> bytearray | None:
    return None if value is None else bytearray(value.encode() if isinstance(value, str) else value)
