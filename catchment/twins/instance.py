"""What one instance of the view has: its share of the partitions, and what it knows of the others."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

from catchment.config import Config
from catchment.kafka.identities import advertised_host
from catchment.kafka.table import Tables
from catchment.security.authority import Authority, Identity
from catchment.twins.answering import PeerServer
from catchment.twins.changelog import Changelog
from catchment.twins.frames import PARTY, compressed
from catchment.twins.index import Readable
from catchment.twins.members import Members, Presence, share_of
from catchment.twins.rights import Rights
from catchment.twins.search.question import Found, Question, merged
from catchment.twins.shard import Entry, Shard, in_lines

_EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - recognised here, not bound


class Instance:
    """Reads what falls to it, tells the others of it, and answers them."""

    def __init__(self, config: Config, tables: Tables) -> None:
        self._config = config
        self.name = config.twin_view.instance
        self.rights = Rights(tables)
        self._started_ms = time.time_ns() // 1_000_000
        self._members: Members | None = None
        self._changelog: Changelog | None = None
        self._server: PeerServer | None = None

    # Its life

    def start(self) -> None:
        """Begins to read, and tells the others."""
        self._server = PeerServer(self._config, self.identity(), self)
        self._members = Members(self._config, self._presence)
        self._changelog = Changelog(self._config, self._shares, self._members.announce)
        self._members.start()
        self._changelog.start()

    async def open(self) -> None:
        """Begins to answer the others, in the loop that it is called in."""
        if self._server:
            await self._server.open()

    async def close(self) -> None:
        if self._server:
            await self._server.close()

    def stop_telling(self) -> None:
        if self._members:
            self._members.stop()

    def stop_reading(self) -> None:
        if self._changelog:
            self._changelog.stop()

    def identity(self) -> Identity:
        return Authority(self._config.paths.identities, self._config.hostnames).identity(PARTY)

    # How it is

    @property
    def partitions(self) -> int:
        """How many partitions there are in all; none until Kafka has been asked."""
        return self._changelog.partitions if self._changelog else 0

    @property
    def ready(self) -> frozenset[int]:
        """The partitions that this instance answers for."""
        return self._changelog.ready if self._changelog else frozenset()

    @property
    def held(self) -> int:
        """How many objects this instance has."""
        return sum(shard.size for shard in self._changelog.shards.values()) if self._changelog else 0

    @property
    def lag_records(self) -> int:
        """How many records of the changelog it has still to read before it answers for all of its share."""
        return self._changelog.lag_records() if self._changelog else 0

    @property
    def caught_up(self) -> bool:
        """Whether it has read all that falls to it."""
        if not self.partitions or not self._members or not self._members.known:
            return False
        return share_of(self.name, self._members.alive(), self.partitions) <= self.ready

    @property
    def peer_port(self) -> int:
        """Where it answers the others."""
        return self._server.port if self._server else 0

    def alive(self) -> dict[str, Presence]:
        """Every instance that is there, by its name."""
        return self._members.alive() if self._members else {}

    # What it has

    def get_here(self, key: str) -> Entry | None:
        """An object that this instance has."""
        if self._changelog:
            shards = self._changelog.shards
            for partition in self.ready:
                if (shard := shards.get(partition)) and (entry := shard.get(key)):
                    return entry
        return None

    async def ask_here(
        self, partitions: list[int], question: Question, party: str
    ) -> tuple[list[Found], list[int]]:
        """What the party may see of what is asked for, and which partitions are not here."""
        shards = self._changelog.shards if self._changelog else {}
        here = [partition for partition in partitions if partition in self.ready and partition in shards]
        readable = self.rights.readable(party)
        found = await asyncio.gather(
            *(asyncio.to_thread(shards[partition].ask, question, readable) for partition in here)
        )
        return merged(found, question), sorted(set(partitions) - set(here))

    async def all_here(
        self, partitions: list[int], question: Question, party: str, missing: set[int]
    ) -> AsyncIterator[bytes]:
        """The same without order, as lines of JSON, many at a time; adds to `missing` what is not here."""
        readable = self.rights.readable(party)
        for shard in self._present(partitions, missing):
            for lines in in_lines(await _meant(shard, question, readable)):
                yield lines

    async def packed_here(
        self, partitions: list[int], question: Question, party: str, missing: set[int]
    ) -> AsyncIterator[list[bytes]]:
        """The same as parts of an answer to another instance."""
        readable = self.rights.readable(party)
        for shard in self._present(partitions, missing):
            if question.where is None:
                for part in shard.packed(readable):
                    yield part
            else:
                for lines in in_lines(await _meant(shard, question, readable)):
                    yield compressed(lines)

    def _present(self, partitions: list[int], missing: set[int]) -> Iterator[Shard]:
        """What is here of these partitions, one after the other; adds to `missing` what is not."""
        shards = self._changelog.shards if self._changelog else {}
        for partition in partitions:
            shard = shards.get(partition)
            if shard is None or partition not in self.ready:
                missing.add(partition)
            else:
                yield shard

    def _shares(self, partitions: int) -> tuple[set[int], set[int]]:
        """What this instance has to have, and what others have as well."""
        if not self._members or not self._members.known:
            return set(), set()
        alive = self._members.alive()
        others = (presence for name, presence in alive.items() if name != self.name)
        elsewhere = {partition for presence in others for partition in presence.partitions}
        return share_of(self.name, alive, partitions), elsewhere

    def _presence(self) -> Presence:
        assert self._server is not None
        host = self._config.twin_view.host
        return Presence(
            instance=self.name,
            host=advertised_host(self._config) if host in _EVERY_ADDRESS else host,
            port=self._server.port,
            partitions=sorted(self.ready),
            started_ms=self._started_ms,
        )


async def _meant(shard: Shard, question: Question, readable: Readable) -> Iterator[bytes]:
    """The objects of a shard that are asked for and may be seen."""
    if question.where is None:
        return shard.bodies(readable)
    return iter([body for _, body in await asyncio.to_thread(shard.ask, question, readable)])
