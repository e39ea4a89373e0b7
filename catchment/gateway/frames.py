"""Cutting a stream of bytes into frames: a length of four bytes, big-endian, and so many bytes."""

import struct

_LENGTH = struct.Struct(">I")


class FrameSplitter:
    """The same for frames as LineSplitter for lines.

    A frame that announces more than is allowed ends the matter: `is_broken` says that nothing after it can
    be told apart, and what there is of it is in `too_long`.
    """

    def __init__(self, max_frame_bytes: int) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._parts: list[bytes] = []
        self._parts_bytes = 0
        self._needed_bytes = _LENGTH.size
        self.is_broken = False
        self.too_long: list[bytes] = []

    def split(self, chunk: bytes) -> list[bytes]:
        """The frames that end in this chunk."""
        # Parts are joined once, when a frame is whole: a peer that sends byte by byte must not cost copies.
        self._parts.append(chunk)
        self._parts_bytes += len(chunk)
        if self._parts_bytes < self._needed_bytes:
            return []
        frames, data, place = [], self.take_rest(), 0
        while (length := self._length_at(data, place)) is not None:
            start = place + _LENGTH.size
            place = start + length
            frames.append(data[start:place])
        if self.is_broken:
            self.too_long.append(data[place + _LENGTH.size :])
        else:
            self._parts, self._parts_bytes = [data[place:]], len(data) - place
        return frames

    def take_rest(self) -> bytes:
        """What came after the last whole frame."""
        rest = b"".join(self._parts)
        self._parts, self._parts_bytes = [], 0
        return rest

    def _length_at(self, data: bytes, place: int) -> int | None:
        """The length of the frame at a place, if it is all there."""
        self._needed_bytes = _LENGTH.size
        if len(data) - place < _LENGTH.size:
            return None
        length: int = _LENGTH.unpack_from(data, place)[0]
        self._needed_bytes += length
        self.is_broken = length > self._max_frame_bytes
        return length if not self.is_broken and len(data) - place >= self._needed_bytes else None
