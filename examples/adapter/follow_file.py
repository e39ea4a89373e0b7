"""An adapter of one's own: every line that is appended to a file becomes a record of a stream.

Lines are numbered from 1, and the gateway remembers the last number that it accepted. So after a crash of the
gateway or of the machine the adapter goes on with the next line: none is left out, and none comes twice.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from catchment.errors import ConfigurationError, SpoolFull
from catchment.gateway.adapters import Inlet

log = logging.getLogger(__name__)

BATCH_LINES = 1_000
LOOK_S = 0.2
FULL_RETRY_S = 1.0


class FollowFile:
    """Follows one file, which may only be appended to."""

    def __init__(self, inlet: Inlet, settings: Mapping[str, Any]) -> None:
        self.name = f"file {settings['file']}"
        self._inlet = inlet
        self._path = Path(settings["file"])
        self._stream = str(settings["stream"])
        self._max_line_bytes = int(settings.get("max_line_bytes", 1_000_000))
        self._stopping = asyncio.Event()

    async def start(self) -> None:
        try:
            file = self._path.open("rb")
        except OSError as error:
            raise ConfigurationError(
                f"{self._path} cannot be read: {error.strerror}", "Correct `file` of the adapter."
            ) from None
        accepted = self._inlet.last_number(self._stream)
        self._line = sum(1 for _ in islice(_whole_lines(file), accepted))
        if self._line < accepted:
            file.close()
            raise ConfigurationError(
                f"{self._path} has {self._line} lines, and {accepted} were accepted: it is another file",
                f"Give it another stream than {self._stream}.",
            )
        self._following = asyncio.create_task(self._follow(file))

    async def drain(self, timeout_s: float) -> None:
        """Reads to the end of the file as it is now, and stops."""
        self._stopping.set()
        try:
            await asyncio.wait_for(self._following, timeout_s)
        except TimeoutError:
            log.warning("%s is read up to line %d; the next start goes on there", self._path, self._line)

    def figures(self) -> dict[str, Any]:
        return {"line": self._line}

    async def _follow(self, file: BinaryIO) -> None:
        with file:
            stopping = False
            while not stopping:
                stopping = self._stopping.is_set()
                while lines := list(islice(_whole_lines(file), BATCH_LINES)):
                    await self._hand_over(lines)
                await asyncio.sleep(0 if stopping else LOOK_S)

    async def _hand_over(self, lines: list[bytes]) -> None:
        for line in lines:
            if len(line) > self._max_line_bytes:
                await self._inlet.bury(line[: self._max_line_bytes], self._stream, "line-too-long")
        messages = [line for line in lines if len(line) <= self._max_line_bytes]
        while True:
            try:
                await self._inlet.accept(self._stream, messages, number=self._line + len(lines))
                break
            except SpoolFull:
                await asyncio.sleep(FULL_RETRY_S)
        self._line += len(lines)


def _whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines that are finished; one that is not is read again when there is more of it."""
    while True:
        begin = file.tell()
        line = file.readline()
        if not line.endswith(b"\n"):
            file.seek(begin)
            return
        yield line[:-1]
