"""Frames, and how a connection begins."""

import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.errors import InvalidRequest
from catchment.gateway.conversation import Manner, Opening
from catchment.gateway.frames import FrameSplitter

MAX_BYTES = 20


def framed(payload: bytes) -> bytes:
    return struct.pack(">I", len(payload)) + payload


@given(st.lists(st.binary(max_size=MAX_BYTES), max_size=10), st.lists(st.integers(0, 200), max_size=20))
def test_frames_do_not_depend_on_how_the_bytes_arrive(frames: list[bytes], cuts: list[int]) -> None:
    data = b"".join(map(framed, frames))
    splitter = FrameSplitter(MAX_BYTES)
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    found = [frame for start, end in pairwise(places) for frame in splitter.split(data[start:end])]
    assert found == frames
    assert splitter.take_rest() == b""
    assert not splitter.is_broken


def test_a_frame_that_is_too_long_ends_the_matter() -> None:
    splitter = FrameSplitter(MAX_BYTES)
    assert splitter.split(framed(b"good") + framed(b"x" * 21)[:15]) == [b"good"]
    assert splitter.is_broken
    assert splitter.too_long == [b"x" * 11]


@pytest.mark.parametrize(
    ("heard", "manner", "rest"),
    [
        (b"just a line\n", Manner(), b"just a line\n"),
        (b"\n", Manner(), b"\n"),
        (b"catchment/1\nrest", Manner(numbered=True), b"rest"),
        (b"catchment/1 ack\r\n", Manner(numbered=True, ack=True), b""),
        (b"catchment/1 frames ack\n\x00", Manner(numbered=True, ack=True, frames=True), b"\x00"),
        (b"catchment/1" + b"x" * 100, Manner(), b"catchment/1" + b"x" * 100),
    ],
)
def test_the_first_line_says_how_it_goes_on(heard: bytes, manner: Manner, rest: bytes) -> None:
    for size in (1, 3, len(heard)):
        opening = Opening()
        chunks = [heard[start : start + size] for start in range(0, len(heard), size)]
        opened, taken = None, 0
        while opened is None and taken < len(chunks):
            opened = opening.hear(chunks[taken])
            taken += 1
        assert opened is not None
        assert opened[0] == manner
        assert opened[1] + b"".join(chunks[taken:]) == rest


def test_what_is_not_understood_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="ack, frames"):
        Opening().hear(b"catchment/1 please\n")


def test_a_beginning_that_says_nothing_yet_is_kept() -> None:
    opening = Opening()
    assert opening.hear(b"catch") is None
    assert opening.take_rest() == b"catch"
