"""Measurements as an operator, on small frames: shuffled, repeated, with declarations among the data."""

import random
from typing import Any

import orjson
from pyspark.sql import Row, SparkSession

from catchment.pipeline.control import Declarations
from catchment.pipeline.measurements import measurements
from catchment.records import REASON_HEADER, STAMP_HEADER, TOPIC_HEADER, Kind, Source, Stamp
from catchment.registry.model import SeenSensor
from tests.measuring import (
    RECORD_COLUMNS,
    as_row,
    declared,
    field,
    mapping_entry,
    read_wire,
    record_row,
    removed,
    schema_entry,
    schema_text,
)

SITE = "oslo"
PRESS = Source(SITE, "gate", 17, "press-4")
OVEN = Source(SITE, "gate", 17, "oven")
PRESSURE = schema_text("Pressure", field("bar", "double"))
REGISTERED = schema_entry("Pressure", PRESSURE, site=SITE, number=71)
MAPPED = mapping_entry("pressures", site=SITE, streams="press-*", subject="Pressure")


def results(spark: SparkSession, rows: list[tuple[Any, ...]], known: Declarations) -> list[Row]:
    return measurements(spark.createDataFrame(rows, RECORD_COLUMNS), SITE, known).collect()


def of(kind: Kind, rows: list[Row]) -> list[Row]:
    return [row for row in rows if row.topic == kind.topic]


def readings(rows: list[Row], schema: str = PRESSURE) -> list[dict[str, Any]]:
    return [read_wire(bytes(row.value), schema)[1] for row in of(Kind.MEASUREMENTS, rows)]


def header(row: Row, name: str) -> bytes:
    (value,) = [bytes(each.value) for each in row.headers if each.key == name]
    return value


def test_a_mapped_record_becomes_a_measurement_with_its_stamp(spark: SparkSession) -> None:
    rows = results(spark, [record_row(PRESS, 1, {"bar": 3}, 5_000)], declared(REGISTERED, MAPPED))
    (row,) = of(Kind.MEASUREMENTS, rows)
    assert bytes(row.key) == b"oslo/press-4"
    assert read_wire(bytes(row.value), PRESSURE) == (
        71,
        {"sensor_id": "press-4", "timestamp": 5, "bar": 3.0},
    )
    assert [(each.key, bytes(each.value)) for each in row.headers] == [
        (STAMP_HEADER, Stamp(PRESS, 1, 5_000).encode())
    ]


def test_every_record_gives_one_result_in_any_order_and_when_repeated(spark: SparkSession) -> None:
    good = [record_row(PRESS, number, {"bar": number}) for number in range(1, 40)]
    bad = [record_row(PRESS, number, {"bar": "high"}) for number in range(40, 50)]
    rows = (good + bad) * 2
    random.Random(3).shuffle(rows)
    found = results(spark, rows, declared(REGISTERED, MAPPED))
    sent = sorted(header(row, STAMP_HEADER) for row in of(Kind.MEASUREMENTS, found))
    assert sent == sorted(2 * [Stamp(PRESS, number, 0).encode() for number in range(1, 40)])
    assert len(of(Kind.DEADLETTER, found)) == 2 * len(bad)
    assert len(of(Kind.SEEN_SENSORS, found)) == 1


def test_the_order_of_a_stream_is_kept(spark: SparkSession) -> None:
    rows = [record_row(PRESS, number, {"bar": number}) for number in range(1, 100)]
    found = results(spark, rows, declared(REGISTERED, MAPPED))
    assert [reading["bar"] for reading in readings(found)] == list(range(1, 100))


def test_a_sensor_is_seen_once_with_its_first_reading(spark: SparkSession) -> None:
    by_member = mapping_entry(
        "both", site=SITE, streams="press-4", subject="Pressure", sensor={"field": "who"}
    )
    rows = [
        record_row(PRESS, number, {"who": f"s{number % 2}", "bar": number}, 9_000) for number in (1, 2, 3)
    ]
    found = of(Kind.SEEN_SENSORS, results(spark, rows, declared(REGISTERED, by_member)))
    seen = {bytes(row.key): SeenSensor.model_validate_json(bytes(row.value)) for row in found}
    assert seen == {
        f"{SITE}/s{number % 2}".encode(): SeenSensor(
            site=SITE,
            id=f"s{number % 2}",
            subject="Pressure",
            stream="press-4",
            first_ms=9,
            first_reading={"bar": number},
        )
        for number in (1, 2)
    }


def test_what_cannot_be_mapped_is_a_dead_letter_with_the_reason(spark: SparkSession) -> None:
    (letter,) = results(spark, [record_row(PRESS, 1, {"bar": "high"})], declared(REGISTERED, MAPPED))
    assert letter.topic == Kind.DEADLETTER.topic
    assert (bytes(letter.key), orjson.loads(letter.value)) == (PRESS.key, {"bar": "high"})
    assert header(letter, STAMP_HEADER) == Stamp(PRESS, 1, 0).encode()
    assert header(letter, TOPIC_HEADER) == Kind.RECORDS.topic.encode()
    reason = b'unmappable: mapping pressures: field bar: "high" is not a number'
    assert header(letter, REASON_HEADER) == reason


def test_a_mapping_whose_subject_has_no_schema_says_so(spark: SparkSession) -> None:
    elsewhere = schema_entry("Pressure", PRESSURE, site="rome")
    deleted = schema_entry("Pressure", PRESSURE, site=SITE, deleted=True)
    (letter,) = results(spark, [record_row(PRESS, 1, {"bar": 1})], declared(MAPPED, elsewhere, deleted))
    assert header(letter, REASON_HEADER).endswith(b"subject Pressure has no schema")


def test_other_sites_unmapped_streams_and_invalid_stamps_stay_as_they_are(spark: SparkSession) -> None:
    rome = Source("rome", "gate", 17, "press-4")
    similar = Source("oslo-2", "gate", 17, "press-4")
    unstamped = [
        (Kind.RECORDS.topic, 0, 1, b"key", b"{}", headers)
        for headers in (None, [], [(STAMP_HEADER, None)], [(STAMP_HEADER, b"\x01oslo/gate/1/press-4")])
    ]
    rows = [record_row(source, 1, {"bar": 1}) for source in (rome, similar, OVEN)]
    of_rome = mapping_entry("other", site="rome", streams="*", subject="Pressure")
    assert results(spark, [*rows, *unstamped], declared(REGISTERED, MAPPED, of_rome)) == []


def test_the_mapping_that_says_most_of_a_stream_applies(spark: SparkSession) -> None:
    def named(identifier: str, streams: str) -> Any:
        sensor = {"fixed": identifier}
        return mapping_entry(identifier, site=SITE, streams=streams, subject="Pressure", sensor=sensor)

    known = declared(
        REGISTERED, named("a", "*"), named("b", "press-?"), named("d", "*-4"), named("c", "press*")
    )
    found = results(spark, [record_row(PRESS, 1, {"bar": 1}), record_row(OVEN, 1, {"bar": 1})], known)
    assert {reading["sensor_id"] for reading in readings(found)} == {"a", "b"}


def test_declarations_come_among_the_data(spark: SparkSession) -> None:
    rows = [as_row(REGISTERED), as_row(MAPPED), record_row(PRESS, 1, {"bar": 1}), removed(MAPPED, 1)]
    found = results(spark, [*rows, record_row(PRESS, 2, {"bar": 2})], declared())
    assert [reading["bar"] for reading in readings(found)] == [1]


def test_an_older_declaration_that_comes_again_is_no_news(spark: SparkSession) -> None:
    older = mapping_entry("pressures", site=SITE, streams="none", subject="Pressure", offset=4)
    newer = mapping_entry("pressures", site=SITE, streams="press-*", subject="Pressure", offset=5)
    record = record_row(PRESS, 1, {"bar": 1})
    for known, rows in (
        (declared(REGISTERED, newer), [as_row(older)]),
        (declared(REGISTERED), [as_row(newer), as_row(older), removed(older, 3)]),
        (Declarations((REGISTERED,), {(Kind.MAPPINGS, 0): 6}), [as_row(older), as_row(newer)]),
    ):
        found = results(spark, [*rows, record], known)
        assert len(readings(found)) == (0 if known.reached else 1)


def test_a_new_field_of_a_schema_flows_through(spark: SparkSession) -> None:
    wider = schema_text("Pressure", field("bar", "double"), field("pump", ["null", "string"]))
    second = schema_entry("Pressure", wider, site=SITE, version=2, number=72)
    records = [record_row(PRESS, 1, {"bar": 1, "pump": "A"}), record_row(PRESS, 2, {"bar": 2})]
    found = results(spark, records, declared(REGISTERED, MAPPED, second))
    assert [reading["pump"] for reading in readings(found, wider)] == ["A", None]
