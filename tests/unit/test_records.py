"""Records, stamps and names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.errors import InvalidRecord
from catchment.records import LAST_SEQUENCE, Kind, Source, Stamp

names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True)
streams = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}", fullmatch=True)
sources = st.builds(Source, names, names, st.integers(0, 10**19 - 1), streams)
stamps = st.builds(
    Stamp, sources, st.integers(1, LAST_SEQUENCE), st.integers(min_value=-(2**63), max_value=2**63 - 1)
)


@given(stamps)
def test_a_stamp_comes_back_from_its_bytes(stamp: Stamp) -> None:
    assert Stamp.decode(stamp.encode()) == stamp


@given(stamps)
def test_a_stamp_is_compact_and_ends_with_the_identity(stamp: Stamp) -> None:
    encoded = stamp.encode()
    assert len(encoded) == 17 + len(stamp.source.identity)
    assert encoded.endswith(stamp.source.identity)


@given(sources, sources)
def test_identities_differ_where_sources_differ(one: Source, other: Source) -> None:
    assert (one.identity == other.identity) == (one == other)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_stamp_or_refused(data: bytes) -> None:
    try:
        stamp = Stamp.decode(data)
    except InvalidRecord:
        return
    assert stamp.encode() == data


def test_a_stamp_of_another_version_is_refused() -> None:
    encoded = Stamp(Source("oslo", "gate", 1, "line-4"), 7, 0).encode()
    with pytest.raises(InvalidRecord, match="version 1"):
        Stamp.decode(b"\x02" + encoded[1:])


@pytest.mark.parametrize("sequence", [0, 2**63])
def test_a_number_outside_the_sequence_is_refused(sequence: int) -> None:
    encoded = Stamp(Source("oslo", "gate", 1, "line-4"), 7, 0).encode()
    with pytest.raises(InvalidRecord, match="sequence"):
        Stamp.decode(encoded[:1] + sequence.to_bytes(8) + encoded[9:])


@pytest.mark.parametrize("name", ["", "-first", "with/slash", "with space", "x" * 65, "ümlaut"])
def test_a_site_name_that_cannot_stand_everywhere_is_refused(name: str) -> None:
    with pytest.raises(InvalidRecord, match="site name"):
        Source(name, "gate", 1, "line-4")


def test_the_key_keeps_a_stream_together_over_epochs() -> None:
    assert Source("oslo", "gate", 1, "a/b").key == Source("oslo", "gate", 2, "a/b").key == b"oslo/a/b"


def test_topics_are_named_after_their_kind() -> None:
    assert Kind.RECORDS.topic == "catchment.v1.records"
