"""Cutting a stream of bytes into lines, with a bound on how long one may be."""

from collections.abc import Iterator


class LineSplitter:
    """Takes chunks as they come and gives whole lines.

    A line ends with a newline; a carriage return before it belongs to the ending. Of a line that is longer
    than allowed only the beginning is kept, for the dead letters, and the rest is passed over.
    """

    is_broken = False

    def __init__(self, max_line_bytes: int) -> None:
        self._max_line_bytes = max_line_bytes
        self._parts: list[bytes] = []
        self._parts_bytes = 0
        self._passing_over = False
        self.too_long: list[bytes] = []

    def split(self, chunk: bytes) -> list[bytes]:
        """The lines that end in this chunk. Beginnings of lines that were too long are in `too_long`."""
        first, *others = chunk.split(b"\n")
        self._extend(first)
        if not others:
            return []
        lines = list(self._within_bound([*self._end_line(), *others[:-1]]))
        self._extend(others[-1])
        return lines

    def take_rest(self) -> bytes:
        """What came after the last newline: a line that was never finished."""
        rest = b"".join(self._parts)
        self._parts.clear()
        self._parts_bytes = 0
        return rest

    def _extend(self, part: bytes) -> None:
        # Parts are joined once, when the line ends: a peer that sends byte by byte must not cost copies.
        if self._passing_over or not part:
            return
        self._parts.append(part)
        self._parts_bytes += len(part)
        if self._parts_bytes > self._max_line_bytes + len(b"\r"):
            self.too_long.append(self.take_rest()[: self._max_line_bytes])
            self._passing_over = True

    def _end_line(self) -> list[bytes]:
        if self._passing_over:
            self._passing_over = False
            return []
        return [self.take_rest()]

    def _within_bound(self, lines: list[bytes]) -> Iterator[bytes]:
        for ended in lines:
            line = ended[:-1] if ended.endswith(b"\r") else ended
            if len(line) > self._max_line_bytes:
                self.too_long.append(line[: self._max_line_bytes])
            else:
                yield line
