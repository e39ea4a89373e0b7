"""What a supervisor that was killed may have left behind, and its removal by the next one."""

from collections.abc import Mapping
from pathlib import Path

import orjson
import psutil

from catchment.node.process import Child, birth, kill_session, session_members
from catchment.security.files import write_private

# Every child carries it in its environment; it tells our processes from a stranger's.
MARK = "CATCHMENT_DATA_DIR"
_GONE_WITHIN_S = 5.0


class Remains:
    """The list of children of a node, on disk for whoever comes after."""

    def __init__(self, file: Path, data_dir: Path) -> None:
        self._file = file
        self._data_dir = data_dir

    def record(self, children: Mapping[str, Child]) -> None:
        entries = {name: {"pid": child.pid, "born": child.born} for name, child in children.items()}
        write_private(self._file, orjson.dumps(entries))

    def sweep(self) -> list[str]:
        """Kills what is left of the recorded children, never a stranger; gives their names."""
        swept: list[str] = []
        for name, entry in self._read().items():
            left = self._left_of(entry)
            if left:
                kill_session(entry["pid"])
                psutil.wait_procs(left, timeout=_GONE_WITHIN_S)
                swept.append(name)
        self._file.unlink(missing_ok=True)
        return swept

    def _read(self) -> dict[str, dict[str, int]]:
        try:
            entries: dict[str, dict[str, int]] = orjson.loads(self._file.read_bytes())
        except FileNotFoundError:
            return {}
        return entries

    def _left_of(self, entry: dict[str, int]) -> list[psutil.Process]:
        session, born = entry["pid"], entry["born"]
        if birth(session) not in (None, born):
            return []  # the number belongs to another process by now
        members = [process for pid in session_members(session) if (process := _find(pid))]
        return members if all(self._is_ours(member) for member in members) else []

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            return process.environ().get(MARK) == str(self._data_dir)
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            return True  # it is gone, and no reason to spare the others
        except psutil.AccessDenied:
            return False


def _find(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.NoSuchProcess:
        return None
