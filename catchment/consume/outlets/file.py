"""Records to the terminal, or appended to a file."""

import fcntl
import os
import sys
import threading
from pathlib import Path

from catchment.consume.outlets.lines import ToLine
from catchment.consume.source import Batch
from catchment.errors import PartFailed

_TAIL_BYTES = 65_536


class StdoutOutlet:
    """Lines on the standard output."""

    def __init__(self, line: ToLine) -> None:
        self._line = line
        self._lock = threading.Lock()

    def handle(self, batch: Batch) -> None:
        content = b"".join(map(self._line, batch))
        try:
            with self._lock:
                sys.stdout.buffer.write(content)
                sys.stdout.buffer.flush()
        except BrokenPipeError:
            # What Python still holds must not be flushed into the broken pipe at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise PartFailed(
                "Nobody reads the standard output any more", "Start it again: it goes on where it was."
            ) from None

    def close(self) -> None:
        pass


class FileOutlet:
    """Lines at the end of a file, on the disk before they are acknowledged.

    The file is opened for every batch, so that it may be renamed at any time. Half a line that a crash has
    left behind was not acknowledged: it is cut off, and comes again.
    """

    def __init__(self, path: Path, line: ToLine) -> None:
        self._path = path
        self._line = line

    def handle(self, batch: Batch) -> None:
        append_durably(self._path, b"".join(map(self._line, batch)))

    def close(self) -> None:
        pass


def append_durably(path: Path, lines: bytes) -> None:
    """Appends whole lines and has them on the disk when it returns; other writers wait meanwhile."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        end = _end_of_last_line(file.fileno())
        os.ftruncate(file.fileno(), end)
        while lines:
            written = os.pwrite(file.fileno(), lines, end)
            end, lines = end + written, lines[written:]
        os.fsync(file.fileno())


def _end_of_last_line(descriptor: int) -> int:
    end = os.fstat(descriptor).st_size
    while end:
        start = max(0, end - _TAIL_BYTES)
        newline = os.pread(descriptor, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0
