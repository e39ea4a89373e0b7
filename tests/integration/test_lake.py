"""The lake's writer on batches of records, with Kafka beside it: typed, exactly once, nothing dropped."""

import io
import itertools
import json
import struct
import time
from pathlib import Path
from typing import Any

import avro.io
import avro.schema
import pytest
from pyspark.sql import DataFrame, SparkSession

from catchment.config import Config
from catchment.kafka.clients import producer, read_all
from catchment.kafka.parties import Party
from catchment.lake.answers import answer_of
from catchment.lake.catalogue import tables_of
from catchment.lake.counting import recount_lake
from catchment.lake.sql import ask
from catchment.lake.tables import lake_of
from catchment.ledger.model import HopRow, Stage, decode
from catchment.pipeline.lake import LakeWriter
from catchment.records import REASON_HEADER, STAMP_HEADER, TOPIC_HEADER, Kind, Source, Stamp
from tests.lakes import SHIPPED, TEMPERATURE

KAFKA_COLUMNS = (
    "topic string, partition int, offset long, timestamp timestamp, key binary, value binary, "
    "headers array<struct<key: string, value: binary>>"
)
TIME_MS = 1_794_902_400_000
LOGGED_S = TIME_MS / 1000 + 2
SCHEMA_IDS = itertools.count(71_000_001)
Entry = tuple[Any, ...]


class Writer:
    """A lake of its own beside the shared broker, fed with batches by hand."""

    def __init__(self, spark: SparkSession, config: Config) -> None:
        self.spark = spark
        self.config = config
        self.lake = lake_of(config)
        self._writer = LakeWriter(spark, config)
        self._offsets = itertools.count()

    def write(self, *entries: Entry, batch_id: int = 0, partitions: int = 1) -> None:
        self._writer.write(self._frame(entries).repartition(partitions, "key"), batch_id)

    def files(self, table: str) -> int:
        found = self.lake.find(table)
        return len(found.file_uris()) if found else 0

    def restart(self) -> None:
        self._writer.close()
        self._writer = LakeWriter(self.spark, self.config)

    def rows(self, question: str) -> list[list[Any]]:
        with ask(self.lake, question, self.config.lake.analysis) as reader:
            return answer_of(reader, 100_000).rows

    def _frame(self, entries: tuple[Entry, ...]) -> DataFrame:
        rows = [
            (kind.topic, 0, next(self._offsets), key, value, headers) for kind, key, value, headers in entries
        ]
        raw = self.spark.createDataFrame(
            rows, KAFKA_COLUMNS.replace("timestamp timestamp, ", ""), verifySchema=False
        )
        return raw.selectExpr(
            "topic",
            "partition",
            "offset",
            f"timestamp_seconds({LOGGED_S}) AS timestamp",
            "key",
            "value",
            "headers",
        )


@pytest.fixture
def writer(spark: SparkSession, cluster: Config, tmp_path: Path) -> Writer:
    (tmp_path / "identities").symlink_to(cluster.paths.identities)
    lake = cluster.lake.model_copy(update={"topics": list(Kind), "schema_wait_s": 0.5})
    return Writer(spark, cluster.model_copy(update={"data_dir": tmp_path, "lake": lake}))


def source(stream: str) -> Source:
    return Source("local", "gate", 1, stream)


def stamped(stream: str, number: int) -> list[tuple[str, bytes]]:
    return [(STAMP_HEADER, Stamp(source(stream), number, TIME_MS * 1000 + number).encode())]


def record(stream: str, number: int) -> Entry:
    return Kind.RECORDS, source(stream).key, b"line %d" % number, stamped(stream, number)


def register(config: Config, subject: str, text: str) -> int:
    """Puts a schema where the registry keeps them, and gives its id."""
    schema_id = next(SCHEMA_IDS)
    entry = {"site": "local", "subject": subject, "version": 1, "id": schema_id, "schema": text}
    writer = producer(config, Party.API)
    writer.produce(Kind.SCHEMAS.topic, json.dumps(entry), f"local/{subject}/{schema_id}")
    assert writer.flush(30) == 0
    return schema_id


def encode(schema_id: int, text: str, fields: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    avro.io.DatumWriter(avro.schema.parse(text)).write(fields, avro.io.BinaryEncoder(out))
    return b"\0" + struct.pack(">I", schema_id) + out.getvalue()


def reading(schema_id: int, stream: str, number: int, sensor: str = "s1", degrees: float = 20.0) -> Entry:
    fields = {"sensor_id": sensor, "timestamp": TIME_MS + number, "temperature": degrees, "unit": "C"}
    value = encode(schema_id, TEMPERATURE, fields)
    return Kind.MEASUREMENTS, f"local/{sensor}".encode(), value, stamped(stream, number)


def letters(config: Config, key: bytes) -> list[dict[str, Any]]:
    found = read_all(config, Party.OPERATOR, Kind.DEADLETTER.topic)
    return [dict(message.headers() or []) for message in found if message.key() == key]


def test_while_it_keeps_up_one_task_writes_a_batch(writer: Writer) -> None:
    after_start = 0
    for batch_id, number in enumerate((1, 2)):
        streams = [f"lake-small-{each}" for each in range(8)]
        writer.write(*(record(stream, number) for stream in streams), batch_id=batch_id, partitions=4)
        if number == 1:
            after_start = writer.files("records")
    assert after_start > 1, "a backlog is taken by all at once"
    assert writer.files("records") == after_start + 1
    assert writer.rows("SELECT count(*) FROM records") == [[16]]


def test_records_have_their_stamp_and_their_delay(writer: Writer) -> None:
    writer.write(record("lake-one", 1), record("lake-one", 2))
    rows = writer.rows(
        "SELECT site, gateway, epoch, stream, sequence, origin_us, value FROM records ORDER BY 5"
    )
    assert rows == [["local", "gate", 1, "lake-one", n, TIME_MS * 1000 + n, f"line {n}"] for n in (1, 2)]
    ((delay_ms, arrived_ms, day, at),) = writer.rows(
        "SELECT delay_ms, arrived_ms, day, time FROM records WHERE sequence = 1"
    )
    assert delay_ms == arrived_ms - TIME_MS
    assert abs(arrived_ms - time.time() * 1000) < 600_000
    assert (day, at) == ("2026-11-17", "2026-11-17T08:00:00+00:00")


def test_measurements_go_to_the_table_of_their_subject(writer: Writer) -> None:
    schema_id = register(writer.config, "TemperatureData", TEMPERATURE)
    writer.write(reading(schema_id, "lake-two", 1, "s1", 20.5), reading(schema_id, "lake-two", 2, "s2", 21.5))
    rows = writer.rows(
        "SELECT sensor, sensor_id, temperature, unit, timestamp, sequence FROM temperature_data ORDER BY ALL"
    )
    assert rows == [
        ["local/s1", "s1", 20.5, "C", TIME_MS + 1, 1],
        ["local/s2", "s2", 21.5, "C", TIME_MS + 2, 2],
    ]


def test_repeated_stamps_give_one_row(writer: Writer) -> None:
    writer.write(record("lake-three", 1), record("lake-three", 2), record("lake-three", 1))
    writer.write(record("lake-three", 2), record("lake-three", 3), record("lake-three", 2), batch_id=1)
    writer.write(record("lake-three", 2), record("lake-three", 3), batch_id=1)
    assert writer.rows("SELECT sequence FROM records ORDER BY 1") == [[1], [2], [3]]


def test_a_late_number_is_not_dropped(writer: Writer) -> None:
    writer.write(record("lake-late", 1), record("lake-late", 5))
    writer.write(record("lake-late", 3), batch_id=1)
    writer.write(record("lake-late", 4), record("lake-late", 3), record("lake-late", 2), batch_id=2)
    assert writer.rows("SELECT sequence FROM records ORDER BY 1") == [[1], [2], [3], [4], [5]]
    assert newest_hop(writer.config, "lake-late").received == 5


def test_two_sensors_of_a_stream_are_apart(writer: Writer) -> None:
    schema_id = register(writer.config, "TemperatureData", TEMPERATURE)
    writer.write(reading(schema_id, "lake-four", 2, "a"), reading(schema_id, "lake-four", 1, "b"))
    writer.write(reading(schema_id, "lake-four", 2, "a"), reading(schema_id, "lake-four", 3, "b"), batch_id=1)
    assert writer.rows("SELECT sensor_id, sequence FROM temperature_data ORDER BY ALL") == [
        ["a", 2],
        ["b", 1],
        ["b", 3],
    ]


@pytest.mark.parametrize("forgotten", [False, True], ids=["restarted", "with-its-memory-deleted"])
def test_a_restarted_writer_repeats_nothing(writer: Writer, forgotten: bool) -> None:
    stream = f"lake-again-{forgotten}"
    batch = [record(stream, number) for number in (1, 2, 3)]
    writer.write(*batch)
    if forgotten:
        for file in writer.config.paths.lake_work.glob("seen.db*"):
            file.unlink()
    writer.restart()
    writer.write(*batch, record(stream, 4))
    assert writer.rows("SELECT sequence FROM records ORDER BY 1") == [[1], [2], [3], [4]]
    assert newest_hop(writer.config, stream).received == 4


def test_a_new_field_becomes_a_column(writer: Writer) -> None:
    older: dict[str, Any] = {"type": "record", "name": "LakeFlow", "fields": [
        {"name": "sensor_id", "type": "string"},
        {"name": "timestamp", "type": "long"},
        {"name": "litres", "type": "int"},
    ]}  # fmt: skip
    newer = {**older, "fields": [*older["fields"], {"name": "valve", "type": ["null", "string"]}]}
    third = {**older, "fields": [*older["fields"][:2], {"name": "litres", "type": "double"}]}
    made: list[Entry] = []
    values: list[dict[str, Any]] = [{"litres": 1}, {"litres": 2, "valve": "open"}, {"litres": 2.5}]
    for number, (schema, fields) in enumerate(zip((older, newer, third), values, strict=True), start=1):
        text = json.dumps(schema)
        schema_id = register(writer.config, "LakeFlow", text)
        value = encode(schema_id, text, {"sensor_id": "f", "timestamp": TIME_MS, **fields})
        made.append((Kind.MEASUREMENTS, b"local/f", value, stamped("lake-flow", number)))
        writer.write(made[-1], batch_id=number)
    assert writer.rows("SELECT sequence, litres, valve, litres_double FROM lake_flow ORDER BY 1") == [
        [1, 1, None, None],
        [2, 2, "open", None],
        [3, None, None, 2.5],
    ]
    writer.write(*made, batch_id=9)
    assert writer.rows("SELECT count(*) FROM lake_flow") == [[3]]


def test_what_cannot_be_stored_goes_to_the_dead_letters(writer: Writer) -> None:
    schema_id = register(writer.config, "TemperatureData", TEMPERATURE)
    kind, _, value, headers = reading(schema_id, "lake-bad", 1)
    far = encode(
        schema_id, TEMPERATURE, {"sensor_id": "x", "timestamp": 2**60, "temperature": 1.0, "unit": "C"}
    )
    bad = {
        b"local/lake-plain": (b"21.5", headers, "not in Confluent's wire format"),
        b"local/lake-cut": (value[:-3], headers, "not a TemperatureData in Avro"),
        b"local/lake-long": (value + b"!", headers, "bytes are left over"),
        b"local/lake-unknown": (b"\0" + struct.pack(">I", 5) + value[5:], headers, "no schema has the id 5"),
        b"local/lake-stampless": (value, [], "it has no valid stamp"),
        b"local/lake-far": (far, headers, "is in no year"),
    }
    entries = [(kind, key, content, sent) for key, (content, sent, _) in bad.items()]
    writer.write(*entries, reading(schema_id, "lake-bad", 2))
    assert writer.rows("SELECT sequence FROM temperature_data") == [[2]]
    for key, (_, sent, reason) in bad.items():
        (letter,) = letters(writer.config, key)
        said = letter[REASON_HEADER].decode()
        assert said.startswith("unstorable: "), key
        assert reason in said
        assert letter[TOPIC_HEADER] == Kind.MEASUREMENTS.topic.encode()
        assert {STAMP_HEADER: letter.get(STAMP_HEADER)} == {STAMP_HEADER: dict(sent).get(STAMP_HEADER)}


def test_a_schema_that_comes_later_is_waited_for(writer: Writer) -> None:
    schema_id = register(writer.config, "TemperatureData", TEMPERATURE)
    writer.write(reading(schema_id, "lake-wait", 1))
    later = register(writer.config, "TemperatureData", TEMPERATURE)
    writer.write(reading(later, "lake-wait", 2), batch_id=1)
    assert writer.rows("SELECT sequence FROM temperature_data ORDER BY 1") == [[1], [2]]


def test_events_are_rows_once_each(writer: Writer) -> None:
    text = (SHIPPED / "TemperatureThresholdExceeded.avsc").read_text(encoding="utf-8")
    schema_id = register(writer.config, "TemperatureThresholdExceeded", text)
    entries = [event(schema_id, text, number, phase) for number, phase in ((1, "START"), (2, "END"))]
    writer.write(*entries)
    writer.write(*entries, batch_id=1)
    rows = writer.rows("SELECT rule, sequence, phase, temperature_threshold, node FROM events ORDER BY 2")
    assert rows == [["hot", 1, "START", 80.0, "local"], ["hot", 2, "END", 80.0, "local"]]


def event(schema_id: int, text: str, number: int, phase: str) -> Entry:
    numbers: dict[str, Any] = dict.fromkeys(("rule_version", "first_ms", "last_ms", "count"), 1)
    values = dict.fromkeys(("average_transgression", "max_transgression", "latest", "hysteresis"), 81.0)
    texts = {"sensor_id": "s1", "site": "local", "rule": "hot", "unit": "C", "node": "local"}
    fields: dict[str, Any] = numbers | values | texts | {
        "timestamp": TIME_MS + number,
        "temperature_threshold": 80.0,
        "exceeded_for_ms": 5,
        "phase": phase,
        "direction": "ABOVE",
        "sequence": number,
        "subject": "TemperatureData",
        "field": "temperature",
    }  # fmt: skip
    return Kind.EVENTS, b"local/s1", encode(schema_id, text, fields), []


def test_other_topics_are_kept_as_they_are(writer: Writer) -> None:
    alert: Entry = (Kind.ALERTS, b"local/local/s1/hot", b'{"state": "raised"}', [])
    letter: Entry = (Kind.DEADLETTER, b"press", b"\xff", [(REASON_HEADER, b"line-too-long")])
    writer.write(alert, letter, alert)
    assert writer.rows("SELECT key, value FROM alerts") == [["local/local/s1/hot", '{"state": "raised"}']] * 2
    assert writer.rows("SELECT reason, key, value FROM dead_letters") == [["line-too-long", "press", "\\xff"]]


def newest_hop(config: Config, stream: str) -> HopRow:
    rows = [decode(HopRow, message.value()) for message in read_all(config, Party.OPERATOR, Kind.HOPS.topic)]
    ours = [row for row in rows if row.stream == stream and row.stage is Stage.LAKE]
    return max(ours, key=lambda row: row.version)


def test_the_lake_is_a_hop(writer: Writer) -> None:
    writer.write(record("lake-hop", 1), record("lake-hop", 2), record("lake-hop", 4))
    hop = newest_hop(writer.config, "lake-hop")
    assert (hop.node, hop.received, hop.highest, hop.missing, hop.gaps) == ("local", 3, 4, 1, [(3, 3)])
    (counted,) = recount_lake(writer.config)
    timeless = {"first_origin_us", "last_origin_us"}
    assert counted.model_dump(exclude=timeless) == hop.model_dump(exclude=timeless)


def test_many_days_at_once(writer: Writer) -> None:
    day_us = 86_400_000_000
    stamps = [Stamp(source("lake-days"), n, n * day_us).encode() for n in range(1, 201)]
    entries = [(Kind.RECORDS, b"k", b"v", [(STAMP_HEADER, stamp)]) for stamp in stamps]
    writer.write(*entries)
    (table,) = tables_of(writer.lake)
    assert (table.rows, table.first_day, table.last_day) == (200, "1970-01-02", "1970-07-20")
    writer.write(*entries, batch_id=1)
    assert tables_of(writer.lake)[0].rows == 200
