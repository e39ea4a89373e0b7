"""What is in the fast stores, and what is on its way to them: their part of the proof.

Not every record becomes a measurement, so a store cannot be compared with the ledger. What counts is the
topic of measurements: all of it up to where the store has read is in the store, by its transactions; the
rest is under way. A recount trusts neither, and compares the numbers on the topic with those in the tables.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from confluent_kafka import Consumer, Message, TopicPartition
from psycopg import sql

from catchment.config import Config
from catchment.config.store import PostgresSettings, StoredTopic
from catchment.errors import BrokerUnavailable, NodeNotRunning
from catchment.health import ask
from catchment.kafka.clients import REQUEST_TIMEOUT_S, bounds, consumer, read_all
from catchment.kafka.parties import Party
from catchment.ledger.model import HopRow, Stage
from catchment.ledger.recount import stamp_of
from catchment.records import Kind, Source
from catchment.store.database import Connection, connect

TOPIC = Kind.MEASUREMENTS.topic
RANGES_SHOWN = 100
BATCH_RECORDS = 10_000

Numbers = dict[Source, set[int]]


def under_way(config: Config, party: Party) -> dict[Source, int]:
    """How many measurements of each source the slowest store has still to take."""
    stores = [positions for positions in _positions(config) if positions is not None]
    if not stores:
        return {}
    waiting: dict[Source, int] = defaultdict(int)
    with consumer(config, party, enable_partition_eof=True) as reader:
        for positions in stores:
            for source, numbers in _numbers(_beyond(reader, positions)).items():
                waiting[source] = max(waiting[source], len(numbers))
    return dict(waiting)


def recount_stores(config: Config, party: Party) -> list[HopRow]:
    """What each store really holds of what is on the topic now."""
    stores = _with_measurements(config)
    if not stores:
        return []
    on_topic = _numbers(read_all(config, party, TOPIC))
    rows = []
    for name, settings in stores.items():
        with connect(settings) as connection:
            stored = _stored(connection, settings.schema_name)
        for source in on_topic.keys() | stored.keys():
            there = stored.get(source, set())
            rows.append(hop_row(config.site, name, source, there, on_topic.get(source, set()) - there))
    return rows


def hop_row(node: str, store: str, source: Source, stored: set[int], missing: set[int]) -> HopRow:
    return HopRow(
        node=node,
        stage=Stage.POSTGRES,
        store=store,
        site=source.site,
        gateway=source.gateway,
        epoch=source.epoch,
        stream=source.stream,
        version=len(stored),
        received=len(stored),
        highest=max(stored, default=0),
        duplicates=0,
        out_of_order=0,
        missing=len(missing),
        gaps=list(ranges(missing))[:RANGES_SHOWN],
        first_origin_us=0,
        last_origin_us=0,
    )


def ranges(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Numbers as first and last of each stretch without a gap."""
    first = last = None
    for number in sorted(numbers):
        if last is not None and number == last + 1:
            last = number
            continue
        if first is not None and last is not None:
            yield first, last
        first = last = number
    if first is not None and last is not None:
        yield first, last


def _with_measurements(config: Config) -> dict[str, PostgresSettings]:
    return {
        name: settings
        for name, settings in config.store.postgres.items()
        if StoredTopic.MEASUREMENTS in settings.topics
    }


def _positions(config: Config) -> Iterator[dict[int, int] | None]:
    """Where each store has come to; nothing while it cannot be asked."""
    names = {f"postgres-{name}" for name in _with_measurements(config)}
    if not names:
        return
    try:
        figures = ask(config.paths.socket("pipeline")).figures
    except NodeNotRunning:
        return
    for query in figures.get("queries", []):
        if query["name"] in names:
            known = query.get("store", {}).get("positions")
            yield None if known is None else _of_topic(known)


def _of_topic(positions: dict[str, int]) -> dict[int, int]:
    places = ((place.rpartition("/"), offset) for place, offset in positions.items())
    return {int(partition): offset for (topic, _, partition), offset in places if topic == TOPIC}


def _beyond(reader: Consumer, positions: dict[int, int]) -> Iterator[Message]:
    """What is on the topic from these positions on; ends of transactions are no measurements."""
    goals: dict[int, int] = {}
    starts = []
    for partition in reader.list_topics(TOPIC, timeout=REQUEST_TIMEOUT_S).topics[TOPIC].partitions:
        oldest, end = bounds(reader, TopicPartition(TOPIC, partition))
        start = max(oldest, positions.get(partition, 0))
        if start < end:
            goals[partition] = end
            starts.append(TopicPartition(TOPIC, partition, start))
    reader.assign(starts)
    while goals:
        first = reader.poll(REQUEST_TIMEOUT_S)
        if first is None:
            raise BrokerUnavailable(f"Nothing came from {TOPIC}", "See that the broker runs.")
        for message in (first, *reader.consume(BATCH_RECORDS, 0)):
            partition, offset = message.partition() or 0, message.offset() or 0
            if message.error() is None and offset < goals.get(partition, 0):
                yield message
            if message.error() is not None or offset + 1 >= goals.get(partition, 0):
                goals.pop(partition, None)
    reader.unassign()


def _numbers(messages: Iterable[Message]) -> Numbers:
    numbers: Numbers = defaultdict(set)
    for message in messages:
        stamp = stamp_of(message)
        if stamp:
            numbers[stamp.source].add(stamp.sequence)
    return numbers


def _stored(connection: Connection, schema: str) -> Numbers:
    numbers: Numbers = defaultdict(set)
    tables = connection.execute(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = %s AND column_name = 'stamp'",
        [schema],
    ).fetchall()
    places = [(schema, name) for (name,) in tables]
    for place in [*places, (f"{schema}_store", "superseded")]:
        question = sql.SQL("SELECT (stamp).source, (stamp).sequence FROM {}").format(sql.Identifier(*place))
        with connection.cursor("stamps") as rows:
            rows.itersize = BATCH_RECORDS
            for source, number in rows.execute(question):
                numbers[Source.from_identity(source.encode())].add(number)
    return numbers
