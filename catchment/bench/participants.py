"""Processes that take part in a benchmark (`catchment.bench.runners`), seen from the one that leads it."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import orjson

from catchment.bench.site import log_of, start, wait_for
from catchment.config import Config
from catchment.errors import PartFailed
from catchment.node.process import Child, last_words

PATIENCE_S = 30.0


class Participant:
    """Started with what it is given, and asked for its answers in turn."""

    def __init__(self, site: Config, role: str, **given: Any) -> None:
        self._name = f"{role}-{time.monotonic_ns()}"
        arguments = orjson.dumps({"config": str(site.data_dir / "catchment.yaml"), **given}).decode()
        self._child: Child = start(site, self._name, ["catchment.bench.runners", role, arguments])
        self._log = log_of(site, self._name)
        self._read_to = 0

    def answer(self, timeout_s: float = PATIENCE_S) -> dict[str, Any]:
        """Its next answer."""
        found: list[bytes] = []

        def look() -> bool:
            found.extend(self._next())
            return bool(found)

        wait_for(look, self.check, timeout_s)
        answer: dict[str, Any] = orjson.loads(found[0])
        return answer

    def begin(self) -> None:
        """Lets one begin that has said that it is ready."""
        os.kill(self._child.pid, signal.SIGUSR1)

    def stop(self) -> None:
        self._child.terminate()

    def kill(self) -> None:
        self._child.kill()

    def _next(self) -> list[bytes]:
        """The next whole line that is an answer, if there is one: logs may come in between."""
        with suppress(FileNotFoundError), self._log.open("rb") as file:
            file.seek(self._read_to)
            while (line := file.readline()).endswith(b"\n"):
                self._read_to = file.tell()
                if line.startswith(b"{"):
                    return [line]
        return []

    def check(self) -> None:
        """Raises if it has ended."""
        if self._child.exited():
            raise PartFailed(f"{self._name} ended: {last_words(self._log)}", "Run the benchmark again.")


@contextmanager
def participant(site: Config, role: str, **given: Any) -> Iterator[Participant]:
    """One that is gone after the block."""
    taking_part = Participant(site, role, **given)
    try:
        yield taking_part
    finally:
        taking_part.kill()
