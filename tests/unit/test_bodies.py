"""The messages in the body of a request."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.errors import InvalidRequest, UnsupportedContent
from catchment.gateway.bodies import messages_in

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.binary())
def test_a_single_message_is_the_body(body: bytes) -> None:
    assert messages_in(body, "application/octet-stream") == [body]
    assert messages_in(body, "Text/Plain; charset=latin-1") == [body]


@given(st.lists(st.binary(min_size=1).filter(lambda line: not {10, 13} & set(line))))
def test_lines_are_messages(lines: list[bytes]) -> None:
    for end in (b"\n", b"\r\n"):
        assert messages_in(end.join(lines), "application/x-ndjson") == lines
        assert messages_in(end.join([*lines, b""]), "application/x-ndjson") == lines


@given(st.lists(values), st.sampled_from(["", " ", "\n\t "]))
def test_elements_are_messages_to_the_letter(elements: list[object], space: str) -> None:
    written = [json.dumps(element, ensure_ascii=False) for element in elements]
    body = space + "[" + space + f"{space},{space}".join(written) + space + "]" + space
    assert messages_in(body.encode(), "application/json") == [each.encode() for each in written]


@given(values.filter(lambda value: not isinstance(value, list)))
def test_any_other_value_is_one_message(value: object) -> None:
    written = json.dumps(value).encode()
    assert messages_in(b" " + written + b"\n", "application/json") == [written]


def test_no_digit_is_lost() -> None:
    body = b"[123456789012345678901234567890, 0.10000000000000000000001]"
    assert messages_in(body, "application/json") == [
        b"123456789012345678901234567890",
        b"0.10000000000000000000001",
    ]


@pytest.mark.parametrize(
    "body",
    [b"", b"[", b"[1", b"[1,", b"[1,]", b"[,1]", b"[1 2]", b"[1]]", b"[1] 2", b"{", b"1 2", b"[NaN]", b"NaN"],
)
def test_what_is_not_json_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRequest, match="not JSON"):
        messages_in(body, "application/json")


@pytest.mark.parametrize("body", [b"\xff", b"[" * 100_000, b"[" + b'{"a":' * 100_000])
def test_what_is_hostile_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRequest, match="not JSON"):
        messages_in(body, "application/json")


def test_other_content_is_refused() -> None:
    with pytest.raises(UnsupportedContent, match="application/xml"):
        messages_in(b"<a/>", "application/xml")
