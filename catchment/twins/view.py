"""The view of twins: this instance's own objects first, then those of the others.

What nobody has at this moment is named, so that an answer that is not whole says so.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson

from catchment.config import Config
from catchment.errors import BrokerUnavailable, CatchmentError, NotFound, PartitionsMissing
from catchment.kafka.hashing import murmur2
from catchment.kafka.table import Tables
from catchment.twins.frames import FrameKind, parted
from catchment.twins.instance import Instance
from catchment.twins.peers import Peer, PeerLost, Peers
from catchment.twins.search.question import Found, Question, merged
from catchment.twins.shard import Entry, may_see

_CHUNKS_AHEAD = 4


class TwinView:
    """Every object of every site that this node knows, whichever instance has it."""

    def __init__(self, config: Config, tables: Tables) -> None:
        self._site = config.site
        self.here = Instance(config, tables)
        self._peers = Peers(self.here.identity, config.twin_view.request_timeout_s)

    async def open(self) -> None:
        """Begins to ask and answer the others, in the loop that it is called in."""
        await self.here.open()

    async def close(self) -> None:
        self._peers.close()
        await self.here.close()

    def missing(self) -> list[int]:
        """The partitions that nobody answers for at this moment."""
        return sorted(set(range(self.here.partitions)) - self._routes().keys())

    def require_ready(self, party: str) -> None:
        """Refuses what could not be answered at all, before an answer begins."""
        self._require_routes()
        self.here.rights.readable(party)

    # One object

    async def get(self, site: str, identifier: str, party: str) -> Entry:
        """An object that the party may see."""
        entry = await self.find(site, identifier)
        if entry is None or not may_see(self.here.rights.readable(party), entry):
            raise NotFound(
                f"There is no object {identifier!r} at {site}",
                "`catchment twins list` shows those there are.",
            )
        return entry

    async def find(self, site: str, identifier: str) -> Entry | None:
        """An object, whoever may see it; raises if it may be where nobody answers."""
        key = f"{site}/{identifier}"
        if entry := self.here.get_here(key):
            return entry
        routes = self._require_routes()
        usual = murmur2(key.encode()) % self.here.partitions
        answering = {*routes.values()} - {self.here.name}
        # Almost always it is where its key says. At a centre it lies where it lay at its site.
        first = {routes[usual]} & answering if usual in routes else set()
        for some in (first, answering - first):
            found, lost = await self._get_from(some, key)
            if found:
                return found
            answering -= lost
        answered = {each for each, name in routes.items() if name in answering or name == self.here.name}
        missing = set(range(self.here.partitions)) - answered
        if usual in missing or (missing and site != self._site):
            raise missing_partitions(missing)
        return None

    async def _get_from(self, names: set[str], key: str) -> tuple[Entry | None, set[str]]:
        """What some instances have, and those that did not answer."""
        ordered = sorted(names)
        answers = await asyncio.gather(*(self._try_get(name, key) for name in ordered))
        found = next((answer for answer in answers if answer), None)
        lost = {name for name, answer in zip(ordered, answers, strict=True) if answer is None}
        if not found:
            return None, lost
        (version, kind, owner), body = parted(found)
        return Entry(version, kind, owner, body), lost

    async def _try_get(self, name: str, key: str) -> bytes | None:
        try:
            return await self._peer(name).ask(FrameKind.GET, key.encode())
        except PeerLost:
            return None

    # Many objects

    async def page(self, question: Question, party: str) -> tuple[list[Found], list[int]]:
        """What the party may see of what is asked for, from all instances at once, and what is missing."""
        shares = self._by_instance()
        asked = [self._page_of(name, partitions, question, party) for name, partitions in shares.items()]
        missing = set(range(self.here.partitions)).difference(*shares.values())
        found = []
        for rows, absent in await asyncio.gather(*asked):
            found.append(rows)
            missing.update(absent)
        return merged(found, question), sorted(missing)

    async def lines(self, question: Question, party: str, missing: set[int]) -> AsyncIterator[bytes]:
        """The same without order, as lines of JSON, many at a time; adds to `missing` as it goes."""
        shares = self._by_instance()
        missing.update(set(range(self.here.partitions)).difference(*shares.values()))
        # None is the end of one instance's lines.
        queue: asyncio.Queue[bytes | Exception | None] = asyncio.Queue(_CHUNKS_AHEAD)

        async def collect(name: str, partitions: list[int]) -> None:
            try:
                async for some in self._lines_of(name, partitions, question, party, missing):
                    await queue.put(some)
                await queue.put(None)
            except Exception as error:
                await queue.put(error)

        tasks = [asyncio.create_task(collect(name, those)) for name, those in shares.items()]
        try:
            left = len(tasks)
            while left:
                some = await queue.get()
                if isinstance(some, Exception):
                    raise some
                left -= some is None
                if some:
                    yield some
        finally:
            for task in tasks:
                task.cancel()

    async def _page_of(
        self, name: str, partitions: list[int], question: Question, party: str
    ) -> tuple[list[Found], list[int]]:
        if name == self.here.name:
            return await self.here.ask_here(partitions, question, party)
        try:
            content = _encoded(partitions, question, party)
            head, rest = parted(await self._peer(name).ask(FrameKind.ASK, content))
        except PeerLost:
            return [], partitions
        bodies = rest.split(b"\n") if head["places"] else []
        places = [(value, site, identifier) for value, site, identifier in head["places"]]
        return list(zip(places, bodies, strict=True)), head["missing"]

    async def _lines_of(
        self, name: str, partitions: list[int], question: Question, party: str, missing: set[int]
    ) -> AsyncIterator[bytes]:
        if name == self.here.name:
            async for some in self.here.all_here(partitions, question, party, missing):
                yield some
            return
        try:
            content = _encoded(partitions, question, party)
            async for kind, some in self._peer(name).stream(FrameKind.ALL, content):
                if kind is FrameKind.PART:
                    yield some
                else:
                    missing.update(orjson.loads(some))
        except (PeerLost, CatchmentError):
            missing.update(partitions)

    # Who has what

    def _peer(self, name: str) -> Peer:
        alive = self.here.alive()
        self._peers.keep_only([*alive.values()])
        if name not in alive:
            raise PeerLost(f"{name} is gone")
        return self._peers.at(alive[name])

    def _routes(self) -> dict[int, str]:
        """Who answers for each partition: this instance if it can, else the first that says so."""
        routes: dict[int, str] = {}
        for name, presence in self.here.alive().items():
            for partition in presence.partitions:
                routes.setdefault(partition, name)
        return routes | dict.fromkeys(self.here.ready, self.here.name)

    def _require_routes(self) -> dict[int, str]:
        if not self.here.partitions:
            raise BrokerUnavailable("The view of twins has not been read yet", "Ask again in a moment.")
        return self._routes()

    def _by_instance(self) -> dict[str, list[int]]:
        shares: dict[str, list[int]] = {}
        for partition, name in self._require_routes().items():
            shares.setdefault(name, []).append(partition)
        return shares


def missing_partitions(partitions: set[int]) -> PartitionsMissing:
    """What is said when something may be where nobody answers."""
    named = ", ".join(map(str, sorted(partitions)))
    return PartitionsMissing(
        f"No instance answers for the partitions {named} of the twins", "Ask again in some seconds."
    )


def _encoded(partitions: list[int], question: Question, party: str) -> bytes:
    asked: dict[str, Any] = {"partitions": partitions, "question": question.encode(), "party": party}
    return orjson.dumps(asked)
