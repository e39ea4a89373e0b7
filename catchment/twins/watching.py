"""Live changes of twins: what is there first, then what changes, the newest of each object.

Nothing runs while nobody watches. A reader that is slow is told of an object once, with its newest state;
one that falls too far behind, or whose caller may no longer see it, is closed.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import orjson
from confluent_kafka import Message

from catchment.config import Config
from catchment.kafka.parties import Party
from catchment.kafka.recent import RecentFollower
from catchment.twins.changelog import TOPIC, row_of
from catchment.twins.index import Readable
from catchment.twins.search.matching import Predicate, predicate_of
from catchment.twins.search.question import Question
from catchment.twins.shard import Row
from catchment.twins.view import TwinView

REVIEW_S = 1.0
# Something now and then, so that whatever stands in between does not take the stream for dead.
QUIET_S = 15.0
MOST_UNREAD = 20_000
_FOLLOWING_WITHIN_S = 10.0
_LAST = 2**63

Permission = Callable[[], bool]
Changed = tuple[str, int | None, dict[str, Any] | None, bytes]


class Watch:
    """One open stream: which objects it was told of, and what it has not read yet."""

    def __init__(self, question: Question, party: str, permission: Permission) -> None:
        self.party = party
        self.permission = permission
        self.closed = False
        self._matches: Predicate = predicate_of(question.where) if question.where else lambda _: True
        self._told: dict[str, int] = {}
        # Versions of what changed while what is there was still being looked up.
        self._changed: dict[str, int] | None = {}
        self._unread: dict[str, bytes] = {}
        self._news = asyncio.Event()

    def first(self, body: bytes) -> bytes:
        """The event of an object that is there at the beginning; none if it has changed since."""
        twin = orjson.loads(body)
        key, version = f"{twin['site']}/{twin['id']}", twin["version"]
        if self._changed and self._changed.get(key, 0) > version:
            return b""
        self._unread.pop(key, None)
        self._told[key] = version
        return _event("twin", body)

    def ready(self) -> None:
        """All that is there has been told."""
        self._changed = None

    def tell(self, changes: Iterable[Changed], readable: Readable) -> None:
        """Takes over what concerns this stream."""
        for key, version, twin, body in changes:
            if self._changed is not None:
                self._changed[key] = _LAST if version is None else version
            told = self._told.get(key)
            if told is not None and version is not None and version < told + (twin is not None):
                continue
            if twin is not None and _is_seen(readable, twin) and self._matches(twin):
                self._told[key] = twin["version"]
                self._unread.pop(key, None)
                self._unread[key] = _event("twin", body)
            elif told is not None:
                del self._told[key]
                self._unread[key] = _event("gone", _gone(key))
        if len(self._unread) > MOST_UNREAD:
            self.close()
        elif self._unread:
            self._news.set()

    def close(self) -> None:
        self.closed = True
        self._news.set()

    async def next_events(self) -> bytes:
        """What has not been read yet, as soon as there is some, or nothing after a while."""
        try:
            async with asyncio.timeout(REVIEW_S):
                await self._news.wait()
        except TimeoutError:
            return b""
        self._news.clear()
        unread, self._unread = self._unread, {}
        return b"".join(unread.values())


class Watchers:
    """Reads the end of the changelog while somebody watches, and tells them."""

    def __init__(self, config: Config, view: TwinView) -> None:
        self._config = config
        self._view = view
        self._watches: set[Watch] = set()
        self._follower: RecentFollower | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    @property
    def open_streams(self) -> int:
        return len(self._watches)

    async def events(self, question: Question, party: str, permission: Permission) -> AsyncIterator[bytes]:
        """The events of one stream, until either side closes it."""
        watch = Watch(question, party, permission)
        self._watches.add(watch)
        try:
            if not await self._follow():
                return
            missing: set[int] = set()
            async for lines in self._view.lines(question, party, missing):
                yield b"".join(map(watch.first, lines.splitlines()))
            watch.ready()
            yield _event("ready", orjson.dumps({"missing_partitions": sorted(missing)}))
            said_s = time.monotonic()
            while not self._closed and not watch.closed and permission():
                events = await watch.next_events()
                if events or time.monotonic() - said_s > QUIET_S:
                    yield events or b": still here\n\n"
                    said_s = time.monotonic()
        finally:
            self._watches.discard(watch)
            self._rest()

    def review(self) -> None:
        """Closes the streams whose caller has signed out or lost the right."""
        for watch in self._watches:
            if not watch.permission():
                watch.close()

    def close(self) -> None:
        """Closes every stream for good."""
        self._closed = True
        for watch in self._watches:
            watch.close()

    async def _follow(self) -> bool:
        """Whether the changelog's end is being read, as it must be before what is there is looked up."""
        if self._follower is None:
            self._loop = asyncio.get_running_loop()
            self._follower = RecentFollower(self._config, Party.API, [TOPIC], self._take)
            self._follower.start()
        return await asyncio.to_thread(self._follower.following.wait, _FOLLOWING_WITHIN_S)

    def _rest(self) -> None:
        if not self._watches and self._follower:
            follower, self._follower = self._follower, None
            # Its thread ends by itself, a little later.
            follower.end()

    def _take(self, messages: Iterable[Message]) -> None:
        newest: dict[str, Row] = {row.key: row for row in map(row_of, messages)}
        changes = [change for row in newest.values() if (change := _changed(row))]
        if self._loop and changes:
            self._loop.call_soon_threadsafe(self._tell, changes)

    def _tell(self, changes: list[Changed]) -> None:
        readables: dict[str, Readable] = {}
        for watch in list(self._watches):
            if watch.party not in readables:
                readables[watch.party] = self._view.here.rights.readable(watch.party)
            watch.tell(changes, readables[watch.party])


def _changed(row: Row) -> Changed | None:
    if row.body is None:
        return row.key, row.version, None, b""
    try:
        twin = orjson.loads(row.body)
        body = row.body if b"\n" not in row.body else orjson.dumps(twin)
        return row.key, twin["version"], twin, body
    except (ValueError, KeyError, TypeError):
        return None


def _is_seen(readable: Readable, twin: dict[str, Any]) -> bool:
    return f"{twin['site']}/{twin['type']}" in readable.kinds or twin["owner"] == readable.owner


def _gone(key: str) -> bytes:
    site, _, identifier = key.partition("/")
    return orjson.dumps({"site": site, "id": identifier})


def _event(name: str, data: bytes) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), data)
