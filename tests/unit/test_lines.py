"""Cutting bytes into lines."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from catchment.gateway.lines import LineSplitter

MAX_BYTES = 5


def split_in_chunks(data: bytes, cuts: list[int]) -> tuple[list[bytes], list[bytes], bytes]:
    splitter = LineSplitter(MAX_BYTES)
    places = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    chunks = [data[start:end] for start, end in pairwise(places)]
    lines = [line for chunk in chunks for line in splitter.split(chunk)]
    return lines, splitter.too_long, splitter.take_rest()


texts = st.lists(st.sampled_from([b"a", b"bc", b"\r", b"\n", b"\xff\x00", b"\n\n"]), max_size=40).map(
    b"".join
)


@given(texts, st.lists(st.integers(0, 60), max_size=20))
@example(b"12345\r\n123456\n", [5, 6])
@example(b"123456\n1234567", [])
def test_lines_do_not_depend_on_how_the_bytes_arrive(data: bytes, cuts: list[int]) -> None:
    lines, too_long, _ = split_in_chunks(data, cuts)
    expected = [line.removesuffix(b"\r") for line in data.split(b"\n")[:-1]]
    assert lines == [line for line in expected if len(line) <= MAX_BYTES]
    # In the order in which they came; the last may be one that has not ended yet.
    ended_too_long = [line[:MAX_BYTES] for line in expected if len(line) > MAX_BYTES]
    assert too_long[: len(ended_too_long)] == ended_too_long


@given(texts, st.lists(st.integers(0, 60), max_size=20))
def test_no_byte_of_an_unfinished_line_is_lost_silently(data: bytes, cuts: list[int]) -> None:
    _, too_long, rest = split_in_chunks(data, cuts)
    unfinished = data.split(b"\n")[-1]
    if len(unfinished) <= MAX_BYTES:
        assert rest == unfinished
    else:
        assert rest == unfinished or too_long[-1] == unfinished[:MAX_BYTES]


def test_what_waits_for_the_end_of_a_line_is_bounded() -> None:
    splitter = LineSplitter(MAX_BYTES)
    for _ in range(1000):
        assert splitter.split(b"x" * 100) == []
    assert splitter.too_long == [b"xxxxx"]
    assert splitter.split(b"\nnext\n") == [b"next"]
