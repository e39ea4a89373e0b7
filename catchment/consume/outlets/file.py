"""Records to the terminal, or appended to a file."""

import fcntl
import os
import select
import sys
import threading
from pathlib import Path

from catchment.consume.outlets.lines import ToLine
from catchment.consume.source import Batch
from catchment.errors import PartFailed

STOP_S = 5.0
_LOOK_S = 0.1
_TAIL_BYTES = 65_536


class StdoutOutlet:
    """Lines on the standard output.

    They are written in pieces that a pipe with room takes at once, beside Python's buffer: so nobody hangs
    in a write, and a reader that stands still when the command is to end is given up after five seconds.
    """

    def __init__(self, line: ToLine) -> None:
        self._line = line
        self._lock = threading.Lock()
        self._stopping = threading.Event()

    def handle(self, batch: Batch) -> None:
        rest = memoryview(b"".join(map(self._line, batch)))
        with self._lock:
            while rest:
                self._wait_for_room()
                rest = rest[self._write(rest[: select.PIPE_BUF]) :]

    def stop(self) -> None:
        self._stopping.set()

    def close(self) -> None:
        pass

    def _wait_for_room(self) -> None:
        waited_s = 0.0
        while not select.select([], [sys.stdout], [], _LOOK_S)[1]:
            waited_s += _LOOK_S
            if self._stopping.is_set() and waited_s >= STOP_S:
                raise _nobody_reads()

    def _write(self, piece: memoryview) -> int:
        try:
            return os.write(sys.stdout.fileno(), piece)
        except BrokenPipeError:
            raise _nobody_reads() from None


def _nobody_reads() -> PartFailed:
    return PartFailed("Nobody reads the standard output any more", "Start it again: it goes on where it was.")


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

    def stop(self) -> None:
        pass

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
