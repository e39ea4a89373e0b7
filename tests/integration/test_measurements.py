"""Measurements on the running stream: exact across a kill, and by declarations that come while it runs."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Message

from catchment.config import Config
from catchment.health import Report
from catchment.kafka.clients import producer, read_all
from catchment.kafka.parties import Party
from catchment.pipeline.control import Declaration
from catchment.records import REASON_HEADER, STAMP_HEADER, Kind, Source, Stamp
from tests import twinning
from tests.measuring import field, mapping_entry, read_wire, record_row, schema_entry, schema_text
from tests.running_part import report_of, running_part

QUERIES = ["ledger", "measurements", "twins", "twin-feed-measurements"]
WAIT_S = 180.0
SITE = "local"
EPOCH = 500
HALF = 3_000
FLOW = schema_text("FlowOfTest", field("litres", "double"))


def source(stream: str) -> Source:
    return Source(SITE, "gate", EPOCH, stream)


KILLED = source("measured-through-a-kill")


def declare(config: Config, *declarations: Declaration) -> None:
    writer = producer(config, Party.API)
    for each in declarations:
        writer.produce(each.kind.topic, each.value or None, each.key)
    assert writer.flush(WAIT_S) == 0


def send(config: Config, where: Source, messages: list[object], first: int = 1) -> None:
    writer = producer(config, Party.GATEWAY)
    for number, message in enumerate(messages, first):
        _, _, _, key, value, headers = record_row(where, number, message, time.time_ns() // 1000)
        writer.produce(Kind.RECORDS.topic, value, key, headers=headers)
    assert writer.flush(WAIT_S) == 0


def litres(numbers: range) -> list[object]:
    return [{"litres": number} for number in numbers]


@pytest.fixture(scope="module")
def config(cluster: Config) -> Config:
    settings = cluster.pipeline.model_copy(
        update={"checkpoint_interval_s": 5, "restart_backoff_max_s": 2, "queries": QUERIES}
    )
    return cluster.model_copy(update={"pipeline": settings})


@pytest.fixture(scope="module", autouse=True)
def pipeline_after_a_kill(config: Config) -> Iterator[None]:
    """A pipeline that was killed while it made measurements, and runs again."""
    declare(
        config,
        schema_entry("FlowOfTest", FLOW, site=SITE, number=81),
        mapping_entry("flows-of-test", site=SITE, streams="measured-*", subject="FlowOfTest"),
    )
    with running_part(config, "pipeline"):
        send(config, KILLED, litres(range(1, HALF + 1)))
    with running_part(config, "pipeline"):
        send(config, KILLED, litres(range(HALF + 1, 2 * HALF + 1)), first=HALF + 1)
        yield


def stamps_and_values(config: Config, kind: Kind, where: Source) -> list[tuple[int, Message]]:
    """What is on a topic of a source, with the numbers of the records that it came from."""
    found = []
    for message in read_all(config, Party.OPERATOR, kind.topic):
        stamp = dict(message.headers() or []).get(STAMP_HEADER)
        if isinstance(stamp, bytes) and stamp.endswith(where.identity):
            found.append((Stamp.decode(stamp).sequence, message))
    return found


def wait_for(reached: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + WAIT_S
    while not (found := reached()):
        assert time.monotonic() < deadline
        time.sleep(0.3)
    return found


def test_nothing_is_lost_nor_twice_for_a_reader_by_stamp(config: Config) -> None:
    def all_there() -> list[tuple[int, Message]]:
        found = stamps_and_values(config, Kind.MEASUREMENTS, KILLED)
        return found if len(dict(found)) == 2 * HALF else []

    found = wait_for(all_there)
    first: dict[int, bytes] = {}
    for number, message in found:
        # What comes again after the kill is the same, byte for byte.
        assert first.setdefault(number, message.value()) == message.value()
        assert message.key() == f"{SITE}/{KILLED.stream}".encode()
    assert list(first) == list(range(1, 2 * HALF + 1))
    assert [read_wire(value, FLOW)[1]["litres"] for value in first.values()] == list(first)
    seen = [
        message.value()
        for message in read_all(config, Party.OPERATOR, Kind.SEEN_SENSORS.topic)
        if message.key() == f"{SITE}/{KILLED.stream}".encode()
    ]
    assert len(set(seen)) == 1


def test_a_mapping_and_a_wider_schema_take_effect_while_it_runs(config: Config) -> None:
    stream, opaque = source("declared-live"), source("declared-never")
    narrow = schema_text("LiveOfTest", field("litres", "double"))
    wide = schema_text("LiveOfTest", field("litres", "double"), field("valve", "string", default="?"))
    mapped = mapping_entry("live-of-test", site=SITE, streams="declared-live", subject="LiveOfTest")
    numbers = iter(range(1, 10_000))
    message = {"litres": 1, "valve": "open"}

    def sent_with(schema_id: int) -> Message | None:
        send(config, stream, [message], first=next(numbers))
        found = stamps_and_values(config, Kind.MEASUREMENTS, stream)
        made = [each for _, each in found if (each.value() or b"")[1:5] == schema_id.to_bytes(4, "big")]
        return made[-1] if made else None

    send(config, opaque, [message, b"no json"])
    declare(config, schema_entry("LiveOfTest", narrow, site=SITE, number=91), mapped)
    assert read_wire(wait_for(lambda: sent_with(91)).value(), narrow)[1]["litres"] == 1
    declare(config, schema_entry("LiveOfTest", wide, site=SITE, version=2, number=92))
    assert read_wire(wait_for(lambda: sent_with(92)).value(), wide)[1]["valve"] == "open"
    for kind in (Kind.MEASUREMENTS, Kind.DEADLETTER):
        assert stamps_and_values(config, kind, opaque) == []


def test_a_wrong_message_becomes_a_dead_letter_and_holds_up_nothing(config: Config) -> None:
    stream = source("measured-wrong")
    send(config, stream, [{"litres": 1}, {"litres": "many"}, {"litres": 3}])
    (letter,) = wait_for(lambda: stamps_and_values(config, Kind.DEADLETTER, stream))
    reason = dict(letter[1].headers())[REASON_HEADER]
    assert letter[0] == 2
    assert reason == b'unmappable: mapping flows-of-test: field litres: "many" is not a number'
    wait_for(lambda: [number for number, _ in stamps_and_values(config, Kind.MEASUREMENTS, stream)] == [1, 3])


def test_a_feed_that_is_declared_while_it_runs_makes_twins_of_sensors(config: Config) -> None:
    stream, numbers = source("measured-for-twins"), iter(range(1, 10_000))
    flow = twinning.twin_type(
        SITE, "flow", {"name": "Flow", "values": {"litres": {"kind": "number"}}, "writers": ["feed/*"]}
    )
    feed = twinning.twin_feed(
        SITE, "flows", {"subject": "FlowOfTest", "sensor": "measured-for-twins"}, flow.id
    )
    declare(
        config,
        Declaration(Kind.TWIN_TYPES, flow.key.encode(), flow.model_dump_json().encode()),
        Declaration(Kind.TWIN_FEEDS, feed.key.encode(), feed.model_dump_json().encode()),
    )

    def made() -> Message | None:
        send(config, stream, [{"litres": 7}], first=next(numbers))
        found = stamps_and_values(config, Kind.TWINS, stream)
        return found[-1][1] if found else None

    message = wait_for(made)
    assert message.key() == f"{SITE}/{stream.stream}".encode()
    twin = twinning.parsed(message.value())
    assert (twin["values"], twin["owner"], twin["version"]) == ({"litres": 7.0}, "feed/flows", 1)
    timed = [
        'catchment_query_processing_seconds_count{query="twins"}',
        'catchment_query_processing_seconds_bucket{le="5e-05",query="twins"}',
    ]
    report = wait_for(lambda: reported_with(config, timed))
    resting = {each["name"]: each["resting"] for each in report.figures["queries"]}
    assert not resting["twin-feed-measurements"]


def reported_with(config: Config, metrics: list[str]) -> Report | None:
    report = report_of(config, "pipeline")
    assert report
    return report if all(each in report.metrics for each in metrics) else None


def test_figures_count_data_and_no_declarations(config: Config) -> None:
    numbers = iter(range(1, 1_000_000, 50))

    def shown() -> dict[str, Any] | None:
        send(config, source("measured-figures"), litres(range(50)), first=next(numbers))
        report = report_of(config, "pipeline")
        assert report
        figures = {each["name"]: each for each in report.figures["queries"]}
        told = figures["measurements"]
        shown = told["rows_in_per_s"] > 0 and told["rows_out_per_s"] > 0 and told["delay_ms"] is not None
        return figures if shown else None

    figures = wait_for(shown)
    assert figures["measurements"]["rows_in_per_s"] == figures["ledger"]["rows_in_per_s"]
