"""Numbering messages."""

from hypothesis import given
from hypothesis import strategies as st

from catchment.gateway.intake import Intake
from catchment.records import Stamp

payloads = st.lists(st.binary(max_size=10), min_size=1, max_size=5)


@given(st.lists(st.tuples(st.sampled_from(["press", "oven", "press/2"]), payloads), max_size=20))
def test_every_stream_is_numbered_from_one_without_a_gap(messages: list[tuple[str, list[bytes]]]) -> None:
    intake = Intake("oslo", "gate", epoch=7)
    batches = [intake.stamp(stream, each) for stream, each in messages]
    stamps = [Stamp.decode(stamp) for batch in batches for stamp in batch.stamps]
    for stream in {stream for stream, _ in messages}:
        numbers = [stamp.sequence for stamp in stamps if stamp.source.stream == stream]
        assert numbers == list(range(1, len(numbers) + 1))


@given(payloads)
def test_a_batch_knows_its_last_number_and_its_size(messages: list[bytes]) -> None:
    batch = Intake("oslo", "gate", epoch=7).stamp("press", messages)
    assert Stamp.decode(batch.stamps[-1]).sequence == batch.last_sequence == len(messages)
    assert batch.payload_bytes == len(b"".join(messages))


def test_a_time_of_origin_that_the_listener_knows_is_kept() -> None:
    batch = Intake("oslo", "gate", epoch=7).stamp("press", [b"x"], origin_us=123)
    assert Stamp.decode(batch.stamps[0]).origin_us == 123
