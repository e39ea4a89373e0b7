"""The objects of one partition of the changelog as they are now: bytes by key, and an index beside them."""

import logging
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import orjson

from catchment.twins.frames import compressed
from catchment.twins.index import Index, Readable
from catchment.twins.search.question import Found, Question

log = logging.getLogger(__name__)

# Versions of objects that were deleted, so that a repetition of what they were is recognised.
GRAVES_KEPT = 50_000
# The index is closed to questions for as long as so many objects take.
_BATCH = 500
_LINES_AT_ONCE = 1_000


class Entry(NamedTuple):
    """One object. Who may see it is decided without reading its bytes."""

    version: int
    kind: str
    owner: str
    body: bytes


class Row(NamedTuple):
    """What the changelog says of an object: its bytes; or none and, if told, the version that ended it."""

    key: str
    body: bytes | None
    version: int | None = None


class Changed(NamedTuple):
    """What became of an object: the twin, or none if it is gone."""

    key: str
    version: int
    entry: Entry | None
    twin: dict[str, Any] | None


class Shard:
    """A fold over one partition; written by one thread, read by any."""

    def __init__(self) -> None:
        # Plain tuples: the collector learns that there is nothing to find in them, and passes them over.
        self._entries: dict[str, tuple[int, str, str, bytes]] = {}
        self._graves: OrderedDict[str, int] = OrderedDict()
        self._kinds: dict[str, str] = {}
        self._index = Index()
        self._batches_taken = 0
        self._packed: tuple[Any, list[list[bytes]]] = None, []

    @property
    def size(self) -> int:
        """How many objects it has."""
        return len(self._entries)

    def take(self, rows: Iterable[Row]) -> None:
        """Takes over the newest of each object; what is older than what is here is passed over."""
        newest = [*{row.key: row for row in rows}.values()]
        for start in range(0, len(newest), _BATCH):
            changes = [change for row in newest[start : start + _BATCH] if (change := self._change(row))]
            present = [change.twin for change in changes if change.twin is not None]
            gone = [change.key.split("/", 1) for change in changes if change.twin is None]
            self._index.put(present, [(site, identifier) for site, identifier in gone])
            for change in changes:
                self._keep(change)
            # Last: what was packed meanwhile is of neither state, and must not be taken for the new one.
            self._batches_taken += 1

    def get(self, key: str) -> Entry | None:
        entry = self._entries.get(key)
        return Entry(*entry) if entry else None

    def bodies(self, readable: Readable) -> Iterator[bytes]:
        """All objects that may be seen, in no order."""
        kinds, owner = readable.kinds, readable.owner
        # A copy, because others are written meanwhile.
        for _, kind, made_by, body in list(self._entries.values()):
            if kind in kinds or made_by == owner:
                yield body

    def packed(self, readable: Readable) -> Iterator[list[bytes]]:
        """All objects that may be seen, as parts of an answer to another instance.

        They are kept until something changes or somebody with other rights asks: an instance that gathers
        from others would else be slower than one that has all itself.
        """
        asked = self._batches_taken, frozenset(readable.kinds), readable.owner
        known, parts = self._packed
        if known == asked:
            yield from parts
            return
        parts = []
        for lines in in_lines(self.bodies(readable)):
            parts.append(compressed(lines))
            yield parts[-1]
        self._packed = asked, parts

    def ask(self, question: Question, readable: Readable) -> list[Found]:
        """The objects that are meant and may be seen, in the order of the question."""
        found: list[Found] = []
        for place in self._index.ask(question, readable):
            entry = self.get(f"{place[1]}/{place[2]}")
            if entry and may_see(readable, entry):
                found.append((place, entry.body))
        return found

    def _change(self, row: Row) -> Changed | None:
        before = self._entries.get(row.key)
        known = before[0] if before else self._graves.get(row.key, 0)
        if row.body is None:
            version = known if row.version is None else row.version
            return Changed(row.key, version, None, None) if version >= known else None
        try:
            twin = orjson.loads(row.body)
            kind = f"{twin['site']}/{twin['type']}"
            body = row.body if b"\n" not in row.body else orjson.dumps(twin)
            entry = Entry(twin["version"], self._kinds.setdefault(kind, kind), twin["owner"], body)
            if f"{twin['site']}/{twin['id']}" != row.key or not isinstance(twin["values"], dict):
                raise ValueError("it is of another object")
        except (ValueError, KeyError, TypeError) as error:
            log.warning("what is said of %s cannot be read and is passed over: %r", row.key, error)
            return None
        return Changed(row.key, entry.version, entry, twin) if entry.version >= known else None

    def _keep(self, change: Changed) -> None:
        if change.entry is not None:
            version, kind, owner, body = change.entry
            self._entries[change.key] = version, kind, owner, body
            self._graves.pop(change.key, None)
            return
        self._entries.pop(change.key, None)
        self._graves[change.key] = change.version
        while len(self._graves) > GRAVES_KEPT:
            self._graves.popitem(last=False)


def may_see(readable: Readable, entry: Entry) -> bool:
    """Whether an object is there for somebody."""
    return entry.kind in readable.kinds or entry.owner == readable.owner


def in_lines(bodies: Iterator[bytes]) -> Iterator[bytes]:
    """Objects as lines of JSON, many at a time."""
    while some := list(islice(bodies, _LINES_AT_ONCE)):
        yield b"\n".join([*some, b""])
