"""One child process of a node: on a leash, with a log, and ended with all that it started.

Each child leads a session of its own, which is what it and everything it starts (Spark's JVM, for one)
have in common. The kernel ends the child when the supervisor dies, however that happens.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

MAX_LOG_BYTES = 10_000_000
OLD_LOGS_KEPT = 3
_PR_SET_PDEATHSIG = 1
_LAST_WORDS_BYTES = 4096
_LAST_WORDS_CHARACTERS = 300

_libc = ctypes.CDLL(None)


class Child:
    """A running process; to be made in the main thread, because the leash hangs on the thread that forked."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        assert threading.current_thread() is threading.main_thread()
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        rotate(log)
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._process = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                start_new_session=True,
                preexec_fn=_leash_to(os.getpid()),
            )
        finally:
            os.close(descriptor)
        self.pid = self._process.pid
        self.born = birth(self.pid)

    def exited(self) -> bool:
        """Whether it is dead. It is left unburied, so that its number stays its own until `kill`."""
        if self._process.returncode is not None:
            return True
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def terminate(self) -> None:
        """Asks it to end; what it started is its own business then."""
        if not self.exited():
            os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> str:
        """Ends it and all that it started, at once; says how it ended."""
        if self._process.returncode is None:
            kill_session(self.pid)
            self._process.wait()
        code = self._process.returncode
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def kill_session(session: int) -> None:
    """Kills every process of a session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)
    for pid in session_members(session):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def session_members(session: int) -> list[int]:
    return [pid for pid in psutil.pids() if _session_of(pid) == session]


def birth(pid: int) -> int | None:
    """Clock ticks from boot to a living process's start: with the pid they name it beyond doubt."""
    try:
        # The name in brackets may hold spaces and brackets itself; what follows the last bracket is fixed.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(fields[19]) if fields[0] != "Z" else None


def rotate(log: Path) -> None:
    """Moves a log that has grown too long out of the way, under the hands of whoever writes to it.

    The writer appends to an open file, so that the content is copied and the file emptied.
    """
    if not log.exists() or log.stat().st_size <= MAX_LOG_BYTES:
        return
    for number in range(OLD_LOGS_KEPT, 1, -1):
        older = log.with_name(f"{log.name}.{number - 1}")
        if older.exists():
            older.replace(log.with_name(f"{log.name}.{number}"))
    newest = log.with_name(f"{log.name}.1")
    shutil.copyfile(log, newest)
    newest.chmod(0o600)
    os.truncate(log, 0)


def last_words(log: Path) -> str:
    """The last line of a log, as a hint why its writer ended."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _LAST_WORDS_BYTES))
            lines = file.read().decode(errors="replace").split("\n")
    except FileNotFoundError:
        return ""
    spoken = [line.strip() for line in lines if line.strip()]
    return spoken[-1][:_LAST_WORDS_CHARACTERS] if spoken else ""


def _leash_to(supervisor_pid: int) -> Callable[[], None]:
    def leash() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor_pid:  # it died before the leash was on
            os._exit(1)

    return leash


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except (ProcessLookupError, PermissionError):
        return None
