"""The split step in small batches: messages of devices and callers, and measurements, become changes."""

from typing import Any

import orjson
from pyspark.sql import Row, SparkSession

from catchment.pipeline.control import Declaration, Declarations
from catchment.pipeline.twin_split import fed, fed_since, twin_split
from catchment.records import REASON_HEADER, STAMP_HEADER, Kind, Source, Stamp
from catchment.twins.model import Change, Outcome, Refusal
from tests import twinning, watching

SITE = "split"
LAB = Source(SITE, "gate", 1, "lab/bench")
API = Source(SITE, "api-1", 5, "twins")
SENSOR = {"site": SITE, "id": "t1", "name": "t1", "device_id": "kiln", "sensor_type_id": "heat", "version": 1}


def split(spark: SparkSession, topics: twinning.Topics) -> list[Row]:
    """What comes of messages of the API, and then of all else."""
    is_message = [row[0] == Kind.TWIN_MESSAGES.topic for row in topics.rows]
    messages = [row for row, is_one in zip(topics.rows, is_message, strict=True) if is_one]
    others = [row for row, is_one in zip(topics.rows, is_message, strict=True) if not is_one]
    fed_rows = fed(spark.createDataFrame(others, twinning.SCHEMA).coalesce(1), SITE, Declarations())
    split_rows = twin_split(spark.createDataFrame(messages, twinning.SCHEMA).coalesce(1), SITE)
    return [*fed_rows.collect(), *split_rows.collect()]


def declarations(topics: twinning.Topics) -> Declarations:
    """The feeds among the rows, as the driver reads them."""
    feeds = [row for row in topics.rows if row[0] == Kind.TWIN_FEEDS.topic]
    return Declarations(
        tuple(Declaration(Kind.TWIN_FEEDS, row[3] or b"", row[4] or b"", row[2]) for row in feeds)
    )


def changes(rows: list[Row]) -> list[Change]:
    """The changes among rows; each has its key, and the stamp of what it came from."""
    found = []
    for row in rows:
        if row.topic == Kind.TWIN_CHANGES.topic:
            change = Change.model_validate_json(bytes(row.value))
            assert bytes(row.key).decode() == change.key
            assert [header.key for header in row.headers] == [STAMP_HEADER]
            found.append(change)
    return found


def wishes(rows: list[Row]) -> dict[str, Any]:
    return {change.id: change.change.model_dump(exclude_unset=True, mode="json") for change in changes(rows)}


def send(topics: twinning.Topics, source: Source, sequence: int, message: Any) -> None:
    kind = Kind.TWIN_MESSAGES if source == API else Kind.RECORDS
    value = message if isinstance(message, bytes) else orjson.dumps(message)
    topics.add(kind, source.key.decode(), value, twinning.stamp(source, sequence, origin_ms=7))


def test_a_message_of_the_api_becomes_a_change_for_each_object(spark: SparkSession) -> None:
    topics = twinning.Topics()
    said = {"values": {"heat": {"set": 21.5}, "name": {"set": 'Ofen "ä😀"'}}, "action": "put", "type": "kiln"}
    objects = {"b": said, "a": {"action": "delete"}, "c": {}}
    send(topics, API, 1, {"objects": objects, "transaction": "t-1", "user": "token/me", "confirm": True})
    elsewhere = Source("elsewhere", "api-1", 5, "twins")
    foreign = orjson.dumps({"objects": {"d": {}}, "transaction": "t-2", "user": "token/me"})
    topics.add(Kind.TWIN_MESSAGES, elsewhere.key.decode(), foreign, twinning.stamp(elsewhere, 1, origin_ms=7))
    rows = split(spark, topics)
    assert wishes(rows) == objects
    assert [change.id for change in changes(rows)] == ["b", "a", "c"]
    first = changes(rows)[0]
    assert (first.site, first.transaction, first.user, first.at_ms) == (SITE, "t-1", "token/me", 7)
    assert first.confirm
    stamp = Stamp.decode(bytes(rows[0].headers[0].value))
    assert (stamp.source, stamp.sequence) == (API, 1)


def test_a_device_speaks_for_its_stream_and_makes_objects_of_the_feeds_type(spark: SparkSession) -> None:
    topics = twinning.Topics()
    topics.declare(twinning.twin_feed(SITE, "bench", {"streams": "lab/*"}, "kiln"))
    objects = {
        "plain": {"values": {"heat": {"set": 1}}},
        "empty": {},
        "typed": {"type": "other"},
        "made": {"action": "create"},
        "changed": {"action": "change"},
    }
    send(topics, LAB, 1, {"transaction": "t", "user": "token/admin", "at_ms": 99, "objects": objects})
    send(topics, Source(SITE, "gate", 1, "other"), 1, {"transaction": "t", "objects": {"x": {}}})
    send(topics, Source("elsewhere", "gate", 1, "lab/x"), 1, {"transaction": "t", "objects": {"x": {}}})
    rows = split(spark, topics)
    assert wishes(rows) == {
        "plain": {"action": "put", "type": "kiln", "values": {"heat": {"set": 1}}},
        "empty": {"action": "put", "type": "kiln"},
        "typed": {"action": "put", "type": "other"},
        "made": {"action": "create", "type": "kiln"},
        "changed": {"action": "change"},
    }
    assert {(change.user, change.at_ms) for change in changes(rows)} == {("stream/lab/bench", 99)}
    assert len(rows) == len(objects), "streams that no feed names, and other sites, are left alone"


WRONG: list[tuple[Any, str]] = [
    (b"{", "it is no JSON"),
    (b"\xff\xfe", "it is no JSON"),
    (b"[]", "it is no JSON object"),
    (b'{"transaction":"t","objects":{"a":{}}} {}', "there is more after its end"),
    ({"objects": {"a": {}}}, "it lacks transaction"),
    ({"transaction": "t t", "objects": {"a": {}}}, "transaction is to be"),
    ({"transaction": "t"}, "it lacks objects"),
    ({"transaction": "t", "objects": {}}, "it lacks objects"),
    ({"transaction": "t", "objects": []}, "objects is no JSON object"),
    ({"transaction": "t", "objects": {"a/b": {}}}, '"a/b" is no id of an object'),
    ({"transaction": "t", "objects": {"a": 1}}, "what is said of an object is a JSON object"),
    (b'{"transaction":"t","objects":{"a":{},"a":{}}}', '"a" is there twice'),
    ({"transaction": "t", "at_ms": "now", "objects": {"a": {}}}, "at_ms is to be a time"),
    ({"transaction": "t", "confirm": 1, "objects": {"a": {}}}, "confirm is to be true or false"),
    ({"transaction": "t", "objects": {"a": {}}, "extra": {"deep": [1]}}, 'it has no member "extra"'),
]


def test_what_cannot_be_split_is_a_dead_letter_and_its_sender_is_told(spark: SparkSession) -> None:
    topics = twinning.Topics()
    topics.declare(twinning.twin_feed(SITE, "bench", {"streams": "lab/*"}))
    for number, (message, _) in enumerate(WRONG, 1):
        send(topics, LAB, number, message)
    send(topics, API, 1, {"transaction": "t", "objects": {"a": {}}})
    rows = split(spark, topics)
    letters = [row for row in rows if row.topic == Kind.DEADLETTER.topic]
    reasons = [
        bytes(header.value).decode()
        for row in letters
        for header in row.headers
        if header.key == REASON_HEADER
    ]
    for found, wanted in zip(reasons, [*(reason for _, reason in WRONG), "it lacks user"], strict=True):
        assert found.startswith("malformed: ")
        assert wanted in found
    outcomes = [
        Outcome.model_validate_json(bytes(row.value)) for row in rows if row.topic == Kind.TWIN_OUTCOMES.topic
    ]
    assert {(outcome.user, outcome.refusal) for outcome in outcomes} == {
        ("stream/lab/bench", Refusal.MALFORMED)
    }
    assert len(outcomes) == len(WRONG), "who sent a message without a user is not known"
    assert not changes(rows)


def test_a_measurement_becomes_values(spark: SparkSession) -> None:
    topics = twinning.Topics()
    schema = watching.schema_entry(SITE)
    topics.add(schema[0], schema[1].decode(), schema[2])
    topics.add(Kind.SENSORS, f"{SITE}/t1", orjson.dumps(SENSOR))
    measured = {"subject": "TemperatureData"}
    topics.declare(
        twinning.twin_feed(SITE, "all", measured, "sensor"),
        twinning.twin_feed(
            SITE, "device", {**measured, "object": "{device}", "values": {"heat": "temperature"}}
        ),
        twinning.twin_feed(SITE, "other", {"subject": "Other"}),
        twinning.twin_feed(SITE, "others", {**measured, "sensor": "x*"}),
    )
    for sensor, sequence in (("t1", 1), ("t2", 2)):
        value = watching.temperature(sensor, 5000, 21.5)
        topics.add(Kind.MEASUREMENTS, f"{SITE}/{sensor}", value, twinning.stamp(LAB, sequence))
    rows = split(spark, topics)
    all_fields = {"values": {"temperature": {"set": 21.5}, "unit": {"set": "C"}}}
    assert wishes(rows) == {
        "t1": {"action": "put", "type": "sensor", **all_fields},
        "t2": {"action": "put", "type": "sensor", **all_fields},
        "kiln": {"values": {"heat": {"set": 21.5}}},
    }
    assert {change.user for change in changes(rows)} == {"feed/all", "feed/device"}
    assert {change.at_ms for change in changes(rows)} == {5000}
    assert {change.lane for change in changes(rows)} == {"all/t1", "all/t2", "device/t1"}


def test_a_measurement_waits_for_its_schema(spark: SparkSession) -> None:
    topics = twinning.Topics()
    topics.declare(twinning.twin_feed(SITE, "all", {"subject": "TemperatureData"}))
    value = watching.temperature("t1", 5000, 21.5)
    topics.add(Kind.MEASUREMENTS, f"{SITE}/t1", value, twinning.stamp(LAB, 1))
    schema = watching.schema_entry(SITE)
    topics.add(schema[0], schema[1].decode(), schema[2])
    assert [change.id for change in changes(split(spark, topics))] == ["t1"]


def test_only_what_a_feed_of_this_site_names_is_looked_at_and_only_from_then_on() -> None:
    topics = twinning.Topics()

    def since() -> list[int | None]:
        return [fed_since(kind, declarations(topics), SITE) for kind in (Kind.RECORDS, Kind.MEASUREMENTS)]

    topics.declare(twinning.twin_feed("elsewhere", "bench", {"streams": "lab/*"}))
    topics.add(Kind.TWIN_FEEDS, f"{SITE}/wrong", b"{}")
    assert since() == [None, None]
    topics.declare(twinning.twin_feed(SITE, "all", {"subject": "TemperatureData"}, updated_ms=7))
    assert since() == [None, 7]
    topics.declare(twinning.twin_feed(SITE, "bench", {"streams": "lab/*"}, updated_ms=9))
    topics.declare(twinning.twin_feed(SITE, "other", {"streams": "oven"}, updated_ms=8))
    assert since() == [8, 7]
