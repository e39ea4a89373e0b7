"""A record that Kafka delivers again is known by its stamp, and a new one is never taken for it."""

from confluent_kafka import Message

from catchment.consume.memory import HandedOn
from catchment.records import STAMP_HEADER, Source, Stamp


def record(offset: int, sequence: int, stream: str = "press", epoch: int = 1, partition: int = 0) -> Message:
    source = Source("oslo", "gate", epoch, stream)
    headers: list[tuple[str, str | bytes | None]] = [(STAMP_HEADER, Stamp(source, sequence, 0).encode())]
    return Message("records", partition, offset, source.key, b"x", headers)


def unstamped(offset: int) -> Message:
    return Message("records", 0, offset, b"key", b"x", [])


def test_everything_is_new_at_first() -> None:
    batch = [record(10, 5), record(11, 6)]
    assert HandedOn().new(batch) == batch


def test_after_an_assignment_only_what_was_not_handed_on_is_new() -> None:
    handed_on = HandedOn()
    handed_on.note([record(10, 5), record(11, 1, "pump"), record(12, 6)])
    handed_on.doubt(0)
    again = [record(10, 5), record(11, 1, "pump"), record(12, 6), record(13, 7), record(14, 2, "pump")]
    assert handed_on.new(again) == again[3:]


def test_other_records_under_the_same_offsets_are_new() -> None:
    handed_on = HandedOn()
    handed_on.note([record(10, 5), record(11, 6), record(12, 7)])
    after_a_power_cut = [record(11, 6), record(12, 1, "pump"), record(13, 7), record(14, 8)]
    assert handed_on.new(after_a_power_cut) == [after_a_power_cut[1], after_a_power_cut[3]]


def test_a_new_epoch_of_a_stream_begins_at_one() -> None:
    handed_on = HandedOn()
    handed_on.note([record(10, 5)])
    handed_on.doubt(0)
    assert len(handed_on.new([record(11, 1, epoch=2), record(12, 2, epoch=2)])) == 2


def test_each_partition_is_a_matter_of_its_own() -> None:
    handed_on = HandedOn()
    handed_on.note([record(10, 5), record(90, 1, "pump", partition=1)])
    handed_on.doubt(0)
    assert handed_on.new([record(10, 5), record(91, 2, "pump", partition=1)])[0].offset() == 91


def test_without_stamps_nothing_is_left_out() -> None:
    handed_on = HandedOn()
    handed_on.note([unstamped(10), unstamped(11)])
    assert len(handed_on.new([unstamped(10), unstamped(11)])) == 2
