"""What an instance of the view keeps, who it takes for alive, and what falls to it."""

import asyncio
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from catchment.api.twin_answers import wait_of
from catchment.cli.twins import parse_values
from catchment.config.twin_view import TwinViewSettings
from catchment.twins.frames import MOST_BYTES, compressed, decompressed
from catchment.twins.index import Readable
from catchment.twins.members import share_of
from catchment.twins.rights import may_read
from catchment.twins.search.question import Question
from catchment.twins.shard import Row, Shard
from catchment.twins.watching import MOST_UNREAD, Watch
from tests.twins import twin, type_of

EVERYTHING = Readable({"local/machine"}, "token/tester")
NOTHING = Readable(set(), "token/stranger")


def row(identifier: str, version: int | None, gone: bool = False, **fields: Any) -> Row:
    if gone:
        return Row(f"local/{identifier}", None, version)
    state = twin(identifier, version or 1, **fields)
    return Row(state.key, state.model_dump_json().encode())


def unpacked(shard: Shard, readable: Readable) -> list[bytes]:
    parts = [decompressed(b"".join(part)) for part in shard.packed(readable)]
    return b"".join(parts).splitlines()


# Shards


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 6), st.booleans()), max_size=20),
    st.integers(1, 5),
)
def test_a_shard_keeps_the_highest_version_whatever_the_batches(
    said: list[tuple[str, int, bool]], batch: int
) -> None:
    rows = [row(name, version, gone) for name, version, gone in said]
    shard, newest = Shard(), dict[str, tuple[int, bool]]()
    for start in range(0, len(rows), batch):
        shard.take(rows[start : start + batch])
        # Within a batch the last counts, as it does where a log is read whole.
        last = {name: (version, gone) for name, version, gone in said[start : start + batch]}
        for name, (version, gone) in last.items():
            if version >= newest.get(name, (0, False))[0]:
                newest[name] = version, gone
        # Twice, because the second time they are those of the first.
        for readable in (EVERYTHING, NOTHING, EVERYTHING, EVERYTHING):
            assert unpacked(shard, readable) == list(shard.bodies(readable))
    expected = {name: version for name, (version, gone) in newest.items() if not gone}
    found = {name: entry.version for name in "abc" if (entry := shard.get(f"local/{name}"))}
    assert found == expected
    assert {place[2] for place, _ in shard.ask(Question(), EVERYTHING)} == expected.keys()
    assert len(list(shard.bodies(EVERYTHING))) == shard.size == len(expected)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"site": "local"}', twin("other").model_dump_json().encode(), b"null"]
)
def test_what_cannot_be_read_is_passed_over(body: bytes) -> None:
    shard = Shard()
    shard.take([row("good", 1), Row("local/bad", body)])
    assert (shard.size, shard.get("local/bad")) == (1, None)


def test_a_deletion_without_a_version_deletes_what_is_there() -> None:
    shard = Shard()
    shard.take([row("a", 3)])
    shard.take([row("a", None, gone=True)])
    shard.take([row("a", 2)])
    assert shard.size == 0


def test_an_object_over_several_lines_is_shown_on_one() -> None:
    shard = Shard()
    state = twin("a", values={"text": "two\nlines"})
    shard.take([Row(state.key, state.model_dump_json(indent=2).encode())])
    (body,) = shard.bodies(EVERYTHING)
    assert b"\n" not in body


# Shares and rights


@given(st.sets(st.sampled_from(["a", "b", "c", "d", "e"]), min_size=1), st.integers(0, 20))
def test_every_partition_falls_to_exactly_one_and_all_have_about_as_many(
    names: set[str], partitions: int
) -> None:
    shares = [share_of(name, names, partitions) for name in names]
    assert sorted(each for share in shares for each in share) == list(range(partitions))
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize(
    ("readers", "party", "may"),
    [
        (["token/*"], "token/anna", True),
        (["token/anna"], "token/annabel", False),
        (["token/a?na"], "token/anna", True),
        ([], "token/anna", False),
        (["stream/*"], "token/anna", False),
    ],
)
def test_readers_are_patterns(readers: list[str], party: str, may: bool) -> None:
    assert may_read(type_of(readers=readers), party) is may


def test_an_instances_name_has_room_in_stamps() -> None:
    with pytest.raises(ValueError, match="at most 60"):
        TwinViewSettings(instance="x" * 61)


# Live streams


def changed(identifier: str, version: int, **fields: Any) -> Any:
    state = twin(identifier, version, **fields)
    return state.key, version, state.model_dump(), state.model_dump_json().encode()


def test_a_slow_reader_gets_the_newest_of_each_object() -> None:
    async def told() -> bytes:
        watch = Watch(Question.of("heat > 1"), "token/tester", lambda: True)
        watch.tell([changed("a", 1, values={"heat": 2}), changed("b", 1, values={"heat": 2})], EVERYTHING)
        watch.tell([changed("a", 3, values={"heat": 5}), changed("a", 2, values={"heat": 4})], EVERYTHING)
        watch.tell([changed("b", 2, values={"heat": 0}), changed("c", 1, values={"heat": 0})], EVERYTHING)
        return await watch.next_events()

    events = asyncio.run(told())
    assert events.count(b"event: twin") == 1
    assert b'"version":3' in events
    assert events.count(b"event: gone") == 1


def test_what_changed_while_all_was_looked_up_is_told_once_and_newest() -> None:
    async def told() -> tuple[bytes, bytes]:
        watch = Watch(Question.of("heat > 1"), "token/tester", lambda: True)
        changes = [changed("same", 1, values={"heat": 2}), changed("risen", 2, values={"heat": 3})]
        watch.tell(
            [*changes, changed("left", 2, values={"heat": 0}), ("local/gone", None, None, b"")], EVERYTHING
        )
        old = [twin(name, 1, values={"heat": 2}) for name in ("same", "risen", "left", "gone", "quiet")]
        first = b"".join(watch.first(each.model_dump_json().encode()) for each in old)
        watch.ready()
        return first, await watch.next_events()

    first, then = asyncio.run(told())
    assert (first.count(b"event: "), then.count(b"event: ")) == (2, 1)
    assert b'"id":"quiet"' in first
    assert b'"id":"same"' in first
    assert b'"id":"risen"' in then
    assert b'"version":2' in then


def test_a_reader_that_is_too_far_behind_is_closed() -> None:
    watch = Watch(Question(), "token/tester", lambda: True)
    watch.tell([changed(f"o-{number}", 1) for number in range(MOST_UNREAD + 1)], EVERYTHING)
    assert watch.closed


# What callers write


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        (None, 0.0),
        ("wait=2", 2.0),
        ('respond-async, wait="7"', 7.0),
        ("wait = 500", 30.0),
        ("return=minimal", 0.0),
        ("await=3", 0.0),
    ],
)
def test_how_long_a_caller_waits(prefer: str | None, seconds: float) -> None:
    assert wait_of(prefer) == seconds


def test_values_on_the_command_line() -> None:
    texts = ["a=1", "b=1.5", "c=on", 'd="1"', "e=true", "f=", "g+=2", "h-=0.5", "i=x=y"]
    changes, increments = parse_values(texts)
    assert changes == {"a": 1, "b": 1.5, "c": "on", "d": "1", "e": True, "f": None, "i": "x=y"}
    assert increments == {"g": 2, "h": -0.5}
    for wrong in ("a", "a+=on", "=1", "a+=true"):
        with pytest.raises(typer.BadParameter):
            parse_values([wrong])


# Between instances


@given(st.binary(max_size=2000))
def test_a_part_comes_out_as_it_went_in(content: bytes) -> None:
    assert decompressed(b"".join(compressed(content))) == content


def test_a_part_that_claims_too_much_is_refused_before_room_is_made_for_it() -> None:
    with pytest.raises(ConnectionError):
        decompressed((MOST_BYTES + 1).to_bytes(4) + b"\x00")
