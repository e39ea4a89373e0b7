"""The spool on disk: what was committed is there, and nothing else."""

import asyncio
import errno
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.config.models import SpoolSettings
from catchment.gateway.spool import Batch, Spool
from catchment.gateway.spool.format import BadFrameError, decode, encode
from catchment.gateway.spool.inspection import inspect
from catchment.gateway.spool.progress import Progress
from catchment.gateway.spool.segments import SUFFIX, Segments
from catchment.gateway.spool.spool import GROUP_S

batches = st.builds(
    Batch,
    stream=st.from_regex(r"[a-z]{1,20}", fullmatch=True),
    epoch=st.integers(0, 2**63),
    first_sequence=st.integers(0, 2**63),
    origin_us=st.integers(-(2**63), 2**63 - 1),
    payloads=st.lists(st.binary(max_size=50), max_size=5),
    number=st.integers(0, 2**63),
    key=st.text(max_size=20),
    reason=st.text(max_size=20),
)


@given(batches)
def test_a_batch_comes_back_from_its_bytes(batch: Batch) -> None:
    encoded = encode(batch)
    assert decode(b"before" + encoded + b"after", 6) == (batch, 6 + len(encoded))


@given(batches, st.data())
def test_a_changed_byte_or_a_missing_end_is_noticed(batch: Batch, data: st.DataObject) -> None:
    encoded = encode(batch)
    place = data.draw(st.integers(0, len(encoded) - 1))
    changed = bytearray(encoded)
    changed[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(BadFrameError):
        decode(bytes(changed))
    with pytest.raises(BadFrameError):
        decode(encoded[:place])


def numbered(first: int, payload: bytes = b"x" * 100) -> Batch:
    return Batch("press", 1, first, 0, [payload])


def written(directory: Path, count: int, segment_bytes: int = 1000) -> Segments:
    segments = Segments(directory, segment_bytes)
    assert list(segments.open(0)) == []
    for number in range(1, count + 1):
        segments.append(encode(numbered(number)))
    return segments


def found(directory: Path) -> tuple[list[int], Segments]:
    segments = Segments(directory, 1000)
    return [placed.batch.first_sequence for placed in segments.open(0)], segments


def test_segments_are_one_sequence_of_positions(tmp_path: Path) -> None:
    segments = written(tmp_path, 30)
    assert len(list(tmp_path.glob(f"*{SUFFIX}"))) > 3
    placed = list(segments.read(0))
    assert [each.batch.first_sequence for each in placed] == list(range(1, 31))
    assert [each.start for each in placed[1:]] == [each.end for each in placed[:-1]]
    assert placed[-1].end == segments.end
    middle = placed[17]
    assert next(iter(segments.read(middle.start))) == middle


def test_release_deletes_whole_segments_only(tmp_path: Path) -> None:
    segments = written(tmp_path, 30)
    placed = list(segments.read(0))
    segments.release(placed[20].start)
    assert segments.start <= placed[20].start
    assert [each.batch.first_sequence for each in segments.read(placed[20].start)] == list(range(21, 31))
    numbers, reopened = found(tmp_path)
    assert numbers[-1] == 30
    assert reopened.start == segments.start > 0


@pytest.mark.parametrize("torn_bytes", [1, 5, 11, 50, 200])
def test_a_torn_write_at_the_end_is_cut_and_said(
    tmp_path: Path, torn_bytes: int, caplog: pytest.LogCaptureFixture
) -> None:
    segments = written(tmp_path, 25)
    last = max(tmp_path.glob(f"*{SUFFIX}"))
    os.truncate(last, last.stat().st_size - torn_bytes)
    numbers, reopened = found(tmp_path)
    assert numbers == list(range(1, 24 if torn_bytes > len(encode(numbered(1))) else 25))
    assert reopened.was_cut
    assert "the spool is cut at position" in caplog.text
    assert reopened.end < segments.end
    assert found(tmp_path)[0] == numbers


def test_damage_in_the_middle_is_never_skipped_over(tmp_path: Path) -> None:
    written(tmp_path, 25)
    files = sorted(tmp_path.glob(f"*{SUFFIX}"))
    damaged = bytearray(files[1].read_bytes())
    damaged[40] ^= 0xFF
    files[1].write_bytes(bytes(damaged))
    numbers, reopened = found(tmp_path)
    first_of_second = len(files[0].read_bytes()) // len(encode(numbered(1)))
    assert numbers == list(range(1, first_of_second + 1))
    assert reopened.was_cut
    (aside,) = tmp_path.glob("cut-*")
    assert len(list(aside.iterdir())) == len(files) - 1


def test_a_spool_goes_on_where_it_was(tmp_path: Path) -> None:
    async def append(spool: Spool, *numbers: int) -> None:
        spool.start()
        for number in numbers:
            safe = asyncio.Event()
            spool.append(Batch("press", spool.epoch, number, 0, [b"x"]), safe.set)
            await safe.wait()

    first = Spool(tmp_path, SpoolSettings())
    asyncio.run(append(first, 1, 2, 3))
    held = first.take(0)
    first.release(held[1].end, [placed.batch for placed in held[:2]], {0: 17})
    first.close()

    second = Spool(tmp_path, SpoolSettings())
    assert second.epoch == first.epoch
    assert second.sequences == {"press": 3}
    assert second.progress.offsets == {0: 17}
    assert [placed.batch.first_sequence for placed in second.take(second.progress.position)] == [3]
    asyncio.run(append(second, 4))
    assert [placed.batch.first_sequence for placed in second.take(held[1].end)] == [3, 4]
    second.close()


def test_a_spool_that_was_cut_begins_a_new_epoch(tmp_path: Path) -> None:
    async def append(spool: Spool) -> None:
        spool.start()
        safe = asyncio.Event()
        spool.append(Batch("press", spool.epoch, 1, 0, [b"x"], number=9), safe.set)
        await safe.wait()

    first = Spool(tmp_path, SpoolSettings())
    asyncio.run(append(first))
    asyncio.run(append(first))
    first.close()
    (segment,) = tmp_path.glob(f"*{SUFFIX}")
    os.truncate(segment, segment.stat().st_size - 1)
    second = Spool(tmp_path, SpoolSettings())
    assert second.epoch > first.epoch
    assert second.sequences == {}
    assert second.numbers == {"press": 9}


def test_while_much_comes_in_commits_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred batches within a few milliseconds do not wait for the disk a hundred times."""
    commits: list[bytes] = []
    write = Segments.append

    def counted(segments: Segments, data: bytes) -> None:
        commits.append(data)
        write(segments, data)

    monkeypatch.setattr(Segments, "append", counted)

    async def scenario(spool: Spool) -> None:
        spool.start()
        safe = asyncio.Event()
        for number in range(1, 101):
            spool.append(numbered(number), safe.set if number == 100 else None)
            await asyncio.sleep(0.0001)
        await asyncio.wait_for(safe.wait(), 10)

    spool = Spool(tmp_path, SpoolSettings())
    began_s = time.monotonic()
    asyncio.run(scenario(spool))
    took_s = time.monotonic() - began_s
    spool.close()
    assert len(commits) <= 2 + took_s / GROUP_S


def test_a_disk_that_fails_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk says that it is full, then takes it after all: nothing is lost and the sender waits."""
    failures = iter([True, True])
    real = os.fdatasync

    def full_at_first(file: int) -> None:
        if next(failures, False):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(file)

    async def scenario(spool: Spool) -> None:
        spool.start()
        safe = asyncio.Event()
        spool.append(numbered(1), safe.set)
        await asyncio.sleep(0.5)
        assert spool.disk_error == os.strerror(errno.ENOSPC)
        assert not spool.has_room
        assert not safe.is_set()
        await asyncio.wait_for(safe.wait(), 10)
        assert spool.disk_error == ""

    monkeypatch.setattr(os, "fdatasync", full_at_first)
    monkeypatch.setattr("catchment.gateway.spool.spool.DISK_RETRY_S", 0.4)
    spool = Spool(tmp_path, SpoolSettings())
    asyncio.run(scenario(spool))
    spool.close()
    assert found(tmp_path)[0] == [1]


def test_nothing_is_let_go_of_while_that_cannot_be_written_down(tmp_path: Path) -> None:
    spool = Spool(tmp_path, SpoolSettings())
    in_the_way = tmp_path / f".progress.json.{os.getpid()}"
    in_the_way.mkdir()
    with pytest.raises(OSError, match="Is a directory"):
        spool.release(5, [Batch("press", spool.epoch, 1, 0, [b"x"])], {0: 7})
    assert (spool.progress.position, spool.progress.sequences, spool.progress.offsets) == (0, {}, {})
    in_the_way.rmdir()
    spool.release(5, [Batch("press", spool.epoch, 1, 0, [b"x"])], {0: 7})
    assert Progress.load(tmp_path / "progress.json").position == 5


def test_a_spool_can_be_looked_at_and_its_damage_is_named(tmp_path: Path) -> None:
    spool = Spool(tmp_path, SpoolSettings())

    async def append() -> None:
        spool.start()
        safe = asyncio.Event()
        spool.append(Batch("press", spool.epoch, 1, 0, [b"x", b"y"]))
        spool.append(Batch("press", spool.epoch, 0, 0, [b"?"], reason="line-too-long"))
        spool.append(Batch("oven", spool.epoch, 1, 0, [b"z"]), safe.set)
        await safe.wait()

    asyncio.run(append())
    first = spool.take(0)[0]
    spool.release(first.end, [first.batch], {})
    spool.close()
    content = inspect(tmp_path)
    figures = {each.stream: (each.first, each.last, each.records, each.waiting) for each in content.streams}
    assert figures == {"press": (1, 2, 2, 0), "oven": (1, 1, 1, 1)}
    assert (content.dead_letters, content.damage) == (1, "")
    (segment,) = tmp_path.glob(f"*{SUFFIX}")
    os.truncate(segment, segment.stat().st_size - 1)
    assert "cut short" in inspect(tmp_path).damage
    assert segment.stat().st_size == content.bytes_on_disk - 1
