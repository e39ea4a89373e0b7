"""One node per data directory: a locked file that also says which process is the node."""

import fcntl
import os
from pathlib import Path

from catchment.errors import MachineError
from catchment.node.process import birth


class NodeLock:
    """Held for as long as its process lives; the kernel lets go of it however that ends."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor: int | None = None

    def acquire(self) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        if not _take(descriptor):
            os.close(descriptor)
            raise MachineError(
                f"A node is running already with the data directory {self._file.parent.parent}",
                "Stop it with `catchment down`, or set data_dir to another directory.",
            )
        os.truncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()} {birth(os.getpid())}".encode())
        self._descriptor = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            os.truncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def holder(self) -> int | None:
        """The pid of the running node, if there is one."""
        try:
            numbers = self._file.read_text().split()
        except FileNotFoundError:
            return None
        if len(numbers) != 2:
            return None  # nobody holds it, or somebody is about to write down who
        pid, born = (int(number) for number in numbers)
        return pid if birth(pid) == born else None


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
