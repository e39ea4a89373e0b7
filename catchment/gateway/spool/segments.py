"""The spool on disk: segments that together are one long sequence of bytes.

A position is a byte in that sequence. A segment's file is named after the position where it begins, so that
nothing else has to be kept about it.
"""

import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from catchment.gateway.spool.format import FRAME, BadFrameError, Batch, Placed, decode
from catchment.security.files import sync

log = logging.getLogger(__name__)

SUFFIX = ".spool"


class Segments:
    """The files of a spool. Only whole, sound batches are left after `open`."""

    def __init__(self, directory: Path, segment_bytes: int) -> None:
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._starts: list[int] = []
        self._file = -1
        self.end = 0
        self.was_cut = False

    @property
    def start(self) -> int:
        return self._starts[0]

    @property
    def used_bytes(self) -> int:
        return self.end - self.start

    def open(self, first_position: int) -> Iterator[Placed]:
        """Checks every batch and gives it; cuts at the first that is not sound."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._starts = sorted(int(file.stem) for file in self._directory.glob(f"*{SUFFIX}"))
        self.end = self._starts[0] if self._starts else first_position
        for start in list(self._starts):
            if start != self.end:
                self._cut(start, 0, f"{self.end} comes before it")
                break
            yield from self._check(start)
            if self.was_cut:
                break
        if not self._starts:
            self._starts = [self.end]
        self._open_last()

    def append(self, data: bytes) -> None:
        """Writes at the end and waits until the disk has it. After an error nothing has been appended."""
        if self.end - self._starts[-1] >= self._segment_bytes:
            self._begin_segment()
        offset = self.end - self._starts[-1]
        try:
            written = 0
            while written < len(data):
                written += os.pwrite(self._file, memoryview(data)[written:], offset + written)
            os.fdatasync(self._file)
        except OSError:
            os.ftruncate(self._file, offset)
            raise
        self.end += len(data)

    def read(self, position: int) -> Iterator[Placed]:
        """The batches from a position on, to the end as it is now."""
        end = self.end
        while position < end:
            # A copy, because the oldest may be deleted meanwhile.
            start = max(each for each in self._starts.copy() if each <= position)
            with self._path(start).open("rb") as file:
                file.seek(position - start)
                while position < end and (batch := _read_one(file)) is not None:
                    before, position = position, start + file.tell()
                    yield Placed(before, position, batch)

    def release(self, position: int) -> None:
        """Deletes the segments of which nothing is needed from `position` on."""
        while len(self._starts) > 1 and self._starts[1] <= position:
            self._path(self._starts[0]).unlink()
            del self._starts[0]

    def close(self) -> None:
        os.close(self._file)

    def _check(self, start: int) -> Iterator[Placed]:
        content = self._path(start).read_bytes()
        offset = 0
        while offset < len(content):
            try:
                batch, offset = decode(content, offset)
            except BadFrameError as error:
                self._cut(start, offset, str(error))
                return
            before, self.end = self.end, start + offset
            yield Placed(before, self.end, batch)

    def _cut(self, start: int, offset: int, reason: str) -> None:
        """Nothing after a place that is not sound counts; it is put aside, for people to look at."""
        self.was_cut = True
        aside = self._directory / f"cut-{time.time_ns()}"
        aside.mkdir(mode=0o700)
        for later in [each for each in self._starts if each > start]:
            self._path(later).rename(aside / self._path(later).name)
            self._starts.remove(later)
        damaged = self._path(start)
        rest = damaged.read_bytes()[offset:]
        (aside / f"{start + offset:020d}{SUFFIX}").write_bytes(rest)
        os.truncate(damaged, offset)
        log.error(
            "the spool is cut at position %d, because %s; %d bytes are put aside in %s",
            start + offset,
            reason,
            len(rest),
            aside,
        )

    def _open_last(self) -> None:
        self._file = os.open(self._path(self._starts[-1]), os.O_RDWR | os.O_CREAT, 0o600)
        os.fsync(self._file)
        sync(self._directory)

    def _begin_segment(self) -> None:
        before = self._file
        self._starts.append(self.end)
        try:
            self._open_last()
        except OSError:
            self._starts.pop()
            raise
        os.close(before)

    def _path(self, start: int) -> Path:
        return self._directory / f"{start:020d}{SUFFIX}"


def _read_one(file: BinaryIO) -> Batch | None:
    """The next batch of a file, or nothing at its end. What was committed is sound."""
    header = file.read(FRAME.size)
    if not header:
        return None
    _, length, _ = FRAME.unpack(header)
    batch, _ = decode(header + file.read(length))
    return batch
