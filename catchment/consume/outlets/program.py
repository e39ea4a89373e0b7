"""Records to the standard input of a program, one program for each worker."""

import contextlib
import logging
import signal
import subprocess
import threading

from catchment.consume.outlets.lines import ToLine
from catchment.consume.source import Batch
from catchment.errors import ConfigurationError

log = logging.getLogger(__name__)

END_S = 10.0


class ProgramOutlet:
    """A batch is handed on when the program's pipe has taken all of it.

    A program that ends is started again: its pipe breaks, and the worker tries the batch again after a pause.
    """

    def __init__(self, command: list[str], line: ToLine) -> None:
        self._command = command
        self._line = line
        self._mine = threading.local()
        self._running: set[subprocess.Popen[bytes]] = set()

    def handle(self, batch: Batch) -> None:
        pipe = self._program().stdin
        assert pipe is not None
        pipe.write(b"".join(map(self._line, batch)))
        pipe.flush()

    def stop(self) -> None:
        pass

    def close(self) -> None:
        for program in self._running:
            # Its end also frees a worker that waits for a program which reads no more.
            killer = threading.Timer(END_S, program.kill)
            killer.start()
            _close_input(program)
            if program.wait() == -signal.SIGKILL:
                log.error("%s did not end after its input did, and was killed", self._command[0])
            killer.cancel()

    def _program(self) -> "subprocess.Popen[bytes]":
        program: subprocess.Popen[bytes] | None = getattr(self._mine, "program", None)
        if program is not None and program.poll() is None:
            return program
        if program is not None:
            log.warning("%s ended with %s and is started again", self._command[0], program.returncode)
            _close_input(program)
            self._running.discard(program)
        self._mine.program = program = self._start()
        self._running.add(program)
        return program

    def _start(self) -> "subprocess.Popen[bytes]":
        try:
            # In a session of its own: Ctrl-C is for us, and the program ends when its input does.
            return subprocess.Popen(self._command, stdin=subprocess.PIPE, start_new_session=True)
        except OSError as error:
            raise ConfigurationError(
                f"{self._command[0]} cannot be started: {error.strerror}",
                "Name a program that exists and may be run.",
            ) from None


def _close_input(program: "subprocess.Popen[bytes]") -> None:
    assert program.stdin is not None
    # What a program that ended has not read is handed on again to the next one.
    with contextlib.suppress(BrokenPipeError):
        program.stdin.close()
