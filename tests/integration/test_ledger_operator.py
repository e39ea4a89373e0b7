"""The ledger's fold and its operator against a plain model, in small batches."""

from dataclasses import dataclass, field

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import Row, SparkSession

from catchment.ledger.model import LedgerRow
from catchment.pipeline.ledger import ledger
from catchment.records import REASON_HEADER, STAMP_HEADER, TOPIC_HEADER, Kind, Source, Stamp

SCHEMA = "topic string, key binary, value binary, headers array<struct<key: string, value: binary>>"
SOURCE = Source("oslo", "gate", 17, "press/4")

sequences = st.lists(st.integers(1, 30), min_size=1, max_size=40)


@dataclass
class Model:
    """What the ledger means, said in the plainest way."""

    seen: set[int] = field(default_factory=set)
    duplicates: int = 0
    out_of_order: int = 0

    def add(self, sequence: int) -> None:
        if sequence in self.seen:
            self.duplicates += 1
        elif self.seen and sequence < max(self.seen):
            self.out_of_order += 1
        self.seen.add(sequence)

    @property
    def missing(self) -> list[int]:
        return sorted(set(range(1, max(self.seen) + 1)) - self.seen)


def expected_after(numbers: list[int]) -> Model:
    model = Model()
    for number in numbers:
        model.add(number)
    return model


def spread(gaps: list[tuple[int, int]]) -> list[int]:
    return [number for first, last in gaps for number in range(first, last + 1)]


@given(sequences)
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_the_fold_is_the_model(spark: SparkSession, numbers: list[int]) -> None:
    java = spark._jvm.catchment.ledger  # type: ignore[union-attr]
    tally, gaps = java.Tally(), java.Gaps()
    for number in numbers:
        tally.add(number, number * 1000)
    model = expected_after(numbers)
    assert (tally.received(), tally.highest()) == (len(model.seen), max(model.seen))
    assert (tally.duplicates(), tally.outOfOrder()) == (model.duplicates, model.out_of_order)
    assert tally.missing() == len(model.missing)
    assert spread([tuple(gap) for gap in tally.gaps().lowest(1000)]) == model.missing
    assert tally.version() == len(numbers)
    assert gaps.fill(1) is False


@given(sequences)
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_gaps_come_back_from_their_bytes(spark: SparkSession, numbers: list[int]) -> None:
    java = spark._jvm.catchment.ledger  # type: ignore[union-attr]
    tally = java.Tally()
    for number in numbers:
        tally.add(number, 0)
    restored = java.Gaps.fromBytes(tally.gaps().toBytes())
    assert [tuple(gap) for gap in restored.lowest(1000)] == [tuple(gap) for gap in tally.gaps().lowest(1000)]


def records(spark: SparkSession, rows: list[tuple[object, ...]]) -> list[Row]:
    return ledger(spark.createDataFrame(rows, SCHEMA)).collect()


def stamped(source: Source, sequence: int) -> tuple[object, ...]:
    stamp = Stamp(source, sequence, origin_us=sequence * 1000).encode()
    return (Kind.RECORDS.topic, source.key, b"payload", [(STAMP_HEADER, stamp)])


def newest(rows: list[Row]) -> dict[str, LedgerRow]:
    decoded = [
        LedgerRow.model_validate(orjson.loads(row.value)) for row in rows if row.topic == Kind.LEDGER.topic
    ]
    return {row.stream: row for row in sorted(decoded, key=lambda row: row.version)}


def test_the_operator_keeps_sources_apart(spark: SparkSession) -> None:
    other = Source("oslo", "gate", 17, "oven")
    numbers = [1, 2, 5, 3, 3, 9]
    rows = records(spark, [stamped(SOURCE, number) for number in numbers] + [stamped(other, 1)])
    press = newest(rows)["press/4"]
    assert (press.received, press.highest, press.duplicates, press.out_of_order) == (5, 9, 1, 1)
    assert press.gaps == [(4, 4), (6, 8)]
    assert (press.first_origin_us, press.last_origin_us) == (1000, 9000)
    assert newest(rows)["oven"].received == 1


def test_every_record_gives_a_row_with_its_own_version(spark: SparkSession) -> None:
    rows = records(spark, [stamped(SOURCE, number) for number in (1, 2, 2, 4)])
    assert sorted(orjson.loads(row.value)["version"] for row in rows) == [1, 2, 3, 4]
    assert all(row.key == SOURCE.identity for row in rows)


GOOD = Stamp(SOURCE, 1, 0).encode()


WITHOUT_A_VALID_STAMP: list[list[tuple[str, bytes | None]] | None] = [
    None,
    [],
    [("other", GOOD)],
    [(STAMP_HEADER, None)],
    [(STAMP_HEADER, b"")],
    [(STAMP_HEADER, b"\x01")],
    [(STAMP_HEADER, b"\x02" + GOOD[1:])],
    [(STAMP_HEADER, GOOD[:1] + bytes(8) + GOOD[9:])],
    [(STAMP_HEADER, GOOD[:1] + b"\xff" * 8 + GOOD[9:])],
    [(STAMP_HEADER, GOOD[:17] + b"oslo/gate/17")],
    [(STAMP_HEADER, GOOD[:17] + b"oslo/gate/x/press")],
    [(STAMP_HEADER, GOOD[:17] + b"oslo/gate/17/\xff\xfe")],
]


def test_records_without_a_valid_stamp_are_dead_letters(spark: SparkSession) -> None:
    wrong = [(Kind.RECORDS.topic, b"key", b"%d" % n, each) for n, each in enumerate(WITHOUT_A_VALID_STAMP)]
    rows = records(spark, [*wrong, stamped(SOURCE, 1)])
    letters = [row for row in rows if row.topic == Kind.DEADLETTER.topic]
    assert sorted(int(row.value) for row in letters) == list(range(len(wrong)))
    assert len(rows) == len(wrong) + 1
    for row in letters:
        reasons = {header.key: header.value for header in row.headers}
        assert row.key == b"key"
        assert reasons[REASON_HEADER] == b"invalid-stamp"
        assert reasons[TOPIC_HEADER] == Kind.RECORDS.topic.encode()
