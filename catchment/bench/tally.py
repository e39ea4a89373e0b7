"""What a consumer has seen of numbered messages: how many, in which order, and when."""

import time
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Message

NUMBER_BYTES = 12

Track = Callable[[Message], bytes | None]
# Up to which number everything was there, and at what time.
Sighting = tuple[int, int]


def stream_of(message: Message) -> bytes | None:
    """A track for each stream: the messages of a provider come in its order."""
    return message.key()


def connection_of(message: Message) -> bytes | None:
    """A track for each connection, where many share a stream: its name follows the number."""
    return (message.value() or b"").split(b" ", 2)[1]


@dataclass
class Progress:
    """How far one track has come."""

    expected: int
    following: int = 1
    missing: set[int] = field(default_factory=set)
    sightings: list[Sighting] = field(default_factory=list)


class Tally:
    """Counts messages whose first twelve digits number them from 1 on, each track for itself."""

    def __init__(self, expected: Mapping[str, int], track: Track = stream_of, timed: bool = False) -> None:
        self._tracks = {name.encode(): Progress(count) for name, count in expected.items()}
        self._track = track
        self._timed = timed
        self._left = sum(expected.values())
        self.late = self.repeated = 0
        self.first_ns = self.last_ns = 0

    @property
    def is_complete(self) -> bool:
        return self._left == 0

    def see(self, batch: Sequence[Message]) -> None:
        self.last_ns = time.time_ns()
        self.first_ns = self.first_ns or self.last_ns
        tracks, track_of = self._tracks, self._track
        for message in batch:
            track = tracks[track_of(message) or b""]
            number = int((message.value() or b"")[:NUMBER_BYTES])
            if number == track.following:
                track.following = number + 1
                self._left -= 1
            else:
                self._see_out_of_turn(track, number)
        if self._timed:
            for track in tracks.values():
                track.sightings.append((track.following - 1, self.last_ns))

    def report(self) -> dict[str, Any]:
        return {
            "missing": self._left,
            "repeated": self.repeated,
            "out_of_order": self.late,
            "seconds": (self.last_ns - self.first_ns) / 1e9,
            "sightings": {name.decode(): track.sightings for name, track in self._tracks.items()}
            if self._timed
            else {},
        }

    def _see_out_of_turn(self, track: Progress, number: int) -> None:
        if number > track.following:
            track.missing.update(range(track.following, number))
            track.following = number + 1
            self._left -= 1
        elif number in track.missing:
            track.missing.remove(number)
            self._left -= 1
            self.late += 1
        else:
            self.repeated += 1


def delays_ms(sent: Sequence[Sighting], seen: Sequence[Sighting]) -> list[float]:
    """How long each message took, from when all up to its number was sent and seen."""
    ups_to = [number for number, _ in seen]
    delays: list[float] = []
    before = 0
    for number, sent_ns in sent:
        for each in range(before + 1, number + 1):
            place = bisect_left(ups_to, each)
            if place < len(seen):
                delays.append((seen[place][1] - sent_ns) / 1e6)
        before = number
    return delays
