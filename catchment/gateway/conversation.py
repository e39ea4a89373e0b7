"""What a provider and the gateway say to each other on a TCP connection; pure, without any I/O.

A connection carries lines and says nothing back, unless its first line asks for more:

    catchment/1 [ack] [frames]

The gateway answers `ok N`: N is the number of the provider's last message that is safe, 0 at first. The next
message is number N + 1, and so on. With `ack` the gateway says `ack N` whenever all up to N are safe on its
disk; after a cut the provider asks again and goes on after the N that it is told. With `frames` messages
are not lines: each has its length before it, four bytes, big-endian.
"""

from dataclasses import dataclass

from catchment.errors import InvalidRequest
from catchment.gateway.frames import FrameSplitter
from catchment.gateway.lines import LineSplitter

GREETING = b"catchment/1"
OPTIONS = frozenset({"ack", "frames"})
_LONGEST_GREETING_BYTES = 100


@dataclass(frozen=True)
class Manner:
    """How messages come, and whether they are acknowledged."""

    numbered: bool = False
    ack: bool = False
    frames: bool = False

    def splitter(self, max_bytes: int) -> LineSplitter | FrameSplitter:
        return FrameSplitter(max_bytes) if self.frames else LineSplitter(max_bytes)


class Opening:
    """The beginning of a connection, until it is clear how it goes on."""

    def __init__(self) -> None:
        self._heard = b""

    def hear(self, chunk: bytes) -> tuple[Manner, bytes] | None:
        """The manner, and the bytes that belong to messages already; nothing while that is open."""
        self._heard += chunk
        beginning = self._heard[: len(GREETING)]
        if not GREETING.startswith(beginning):
            return Manner(), self._heard
        line, newline, rest = self._heard.partition(b"\n")
        if newline:
            return read_greeting(line), rest
        if len(self._heard) > _LONGEST_GREETING_BYTES:
            return Manner(), self._heard
        return None

    def take_rest(self) -> bytes:
        """What was heard, if it never became clear."""
        return self._heard


def read_greeting(line: bytes) -> Manner:
    """The manner that a first line asks for."""
    word, *options = line.decode(errors="replace").split()
    unknown = sorted(set(options) - OPTIONS)
    if word.encode() != GREETING or unknown:
        raise InvalidRequest(
            f"The greeting {line[:50]!r} is not understood",
            f"Say {GREETING.decode()} with any of: {', '.join(sorted(OPTIONS))}.",
        )
    return Manner(numbered=True, ack="ack" in options, frames="frames" in options)
