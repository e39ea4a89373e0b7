"""Readings as they come, for pages that draw a sensor: one look at the topic for all of them.

Nothing runs while nobody watches. A page first gets what came in the last minute, which the lake may not have
yet. One that reads too slowly, or whose caller may no longer see it, is closed.
"""

import asyncio
import io
import struct
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import avro.io
import orjson
from avro.errors import AvroException
from confluent_kafka import Message

from catchment.config import Config
from catchment.errors import CatchmentError
from catchment.kafka.parties import Party
from catchment.kafka.recent import RecentFollower
from catchment.records import Kind
from catchment.schemas.registry import SchemaRegistry
from catchment.schemas.schema import parse

RECENT_S = 60.0
MOST_RECENT = 50_000
MOST_UNREAD = 5_000
REVIEW_S = 1.0
# Something now and then, so that whatever stands in between does not take the stream for dead.
QUIET_S = 15.0
_WIRE = struct.Struct(">bI")
_TIME_FIELD = "timestamp"
_UNREADABLE = (AvroException, CatchmentError, ValueError, EOFError, struct.error, TypeError)

Permission = Callable[[], bool]
_Reading = tuple[bytes, int, bytes]


class _Watch:
    """One page: the sensor it draws, and what it has not read yet."""

    def __init__(self, sensor: str) -> None:
        self.key = sensor.encode()
        self.closed = False
        self.news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._unread: deque[_Reading] = deque()

    def offer(self, readings: list[_Reading]) -> None:
        """Called from the thread that reads the topic."""
        mine = [reading for reading in readings if reading[0] == self.key]
        if mine:
            self._loop.call_soon_threadsafe(self._take, mine)

    def take_all(self) -> list[_Reading]:
        unread = list(self._unread)
        self._unread.clear()
        self.news.clear()
        return unread

    def _take(self, readings: list[_Reading]) -> None:
        self._unread.extend(readings)
        self.closed = self.closed or len(self._unread) > MOST_UNREAD
        self.news.set()


class ReadingsFeed:
    """Follows the measurements while pages watch."""

    def __init__(self, config: Config, schemas: SchemaRegistry) -> None:
        self._config = config
        self._schemas = schemas
        self._readers: dict[int, avro.io.DatumReader] = {}
        self._watches: set[_Watch] = set()
        self._recent: deque[_Reading] = deque(maxlen=MOST_RECENT)
        self._follower: RecentFollower | None = None
        self._lock = threading.Lock()

    async def events(self, sensor: str, permission: Permission) -> AsyncIterator[bytes]:
        """The readings of a sensor, until either side has enough."""
        watch = _Watch(sensor)
        self._add(watch)
        quiet_s = 0.0
        try:
            yield b": here are readings\n\n"
            while permission() and not watch.closed:
                try:
                    await asyncio.wait_for(watch.news.wait(), REVIEW_S)
                except TimeoutError:
                    quiet_s += REVIEW_S
                if events := b"".join(filter(None, map(self._event, watch.take_all()))):
                    quiet_s = 0.0
                    yield events
                elif quiet_s >= QUIET_S:
                    quiet_s = 0.0
                    yield b": nothing new\n\n"
        finally:
            self._remove(watch)

    def close(self) -> None:
        """Closes every page."""
        for watch in list(self._watches):
            watch.closed = True
            watch.news.set()

    def _add(self, watch: _Watch) -> None:
        with self._lock:
            watch.offer(list(self._recent))
            self._watches.add(watch)
            if self._follower is None:
                topics = [Kind.MEASUREMENTS.topic]
                self._follower = RecentFollower(self._config, Party.API, topics, self._take, RECENT_S)
                self._follower.start()

    def _remove(self, watch: _Watch) -> None:
        with self._lock:
            self._watches.discard(watch)
            if not self._watches and self._follower:
                self._follower.end()
                self._follower = None
                self._recent.clear()

    def _take(self, messages: Iterable[Message]) -> None:
        readings = [
            (message.key() or b"", message.timestamp()[1], message.value() or b"") for message in messages
        ]
        with self._lock:
            if self._follower is None:
                return
            self._recent.extend(readings)
            for watch in self._watches:
                watch.offer(readings)

    def _event(self, reading: _Reading) -> bytes:
        _, logged_ms, value = reading
        try:
            fields = self._decode(value)
        except _UNREADABLE:
            return b""
        at_ms = fields.get(_TIME_FIELD) or logged_ms
        values = {
            name: number for name, number in fields.items() if name != _TIME_FIELD and _is_number(number)
        }
        return b"event: reading\ndata: " + orjson.dumps({"at_ms": at_ms, "values": values}) + b"\n\n"

    def _decode(self, value: bytes) -> dict[str, Any]:
        _, schema_id = _WIRE.unpack_from(value)
        if schema_id not in self._readers:
            text = self._schemas.by_id(schema_id)[0].text
            self._readers[schema_id] = avro.io.DatumReader(parse(text).parsed)
        fields = self._readers[schema_id].read(avro.io.BinaryDecoder(io.BytesIO(value[_WIRE.size :])))
        return fields if isinstance(fields, dict) else {}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
