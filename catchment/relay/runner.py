"""The relay of one site, in a thread of its own: whatever happens to it happens to this site alone."""

import logging
import re
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from confluent_kafka import KafkaError, KafkaException, Message

from catchment.config import Config
from catchment.errors import CatchmentError, ConfigurationError
from catchment.health import State
from catchment.kafka.failures import explain
from catchment.relay.model import Extent, Finding, Incident, Place, Position, SiteState, incident, judge
from catchment.relay.register import Site
from catchment.relay.source import Source, SourceChanged
from catchment.relay.target import Target
from catchment.security.authority import Identity

log = logging.getLogger(__name__)

POLL_S = 0.2
STOP_S = 3.0
FIRST_BACKOFF_S = 0.5
INCIDENTS_SHOWN = 100

# What Kafka says when a partition cannot be read on from where we were.
_DOUBTS = {
    KafkaError._AUTO_OFFSET_RESET,
    KafkaError._LOG_TRUNCATION,
    KafkaError.OFFSET_OUT_OF_RANGE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError.UNKNOWN_TOPIC_ID,
    KafkaError.INCONSISTENT_TOPIC_ID,
}
# The only place where librdkafka tells how much of the log is still the one that was read.
_COMMON_END = re.compile(r"broker end offset is (\d+)")


@dataclass(frozen=True)
class UnderWay:
    """What is written, and not yet known to be committed."""

    positions: dict[Place, Position]
    records: int
    newest_ms: int


class SiteRelay:
    """Carries records from a site to the centre. In this order, and from the start again after any failure:

    1. take over the site's transactions at the centre, so that no earlier relay can write any more;
    2. read back how far the site was relayed;
    3. look at the site's topics, make those of the centre match, and note what is amiss;
    4. carry batch after batch, each with its new positions in one transaction, and fetch the next batch while
       one is being committed.
    """

    def __init__(self, config: Config, site: Site, identity: Identity) -> None:
        self._config = config
        self._site = site
        self._identity = identity
        self._state = State.STARTING
        self._last_error = ""
        self._restarts = 0
        self._running_since_s = 0.0
        self._relayed_records = 0
        self._delay_ms: float | None = None
        self._positions: dict[Place, Position] = {}
        self._extents: dict[Place, Extent] = {}
        self._known_ends: dict[Place, int] = {}
        self._read_to: dict[Place, int] = {}
        self._doubtful: dict[Place, int | None] = {}
        self._incidents: list[Incident] = []
        self._under_way: UnderWay | None = None
        self._news: list[Message] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"relay {site.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()

    def join(self) -> None:
        """Bounded, because a site that is away can hold up a request for longer than a stop may take."""
        self._thread.join(STOP_S)

    def report(self) -> SiteState:
        incidents = list(self._incidents)
        lag = sum(
            max(0, extent.end - self._read_to.get(place, extent.first))
            for place, extent in list(self._extents.items())
        )
        return SiteState(
            name=self._site.name,
            bootstrap_servers=self._site.bootstrap_servers,
            state=self._state,
            detail=self._detail(lag, incidents),
            topics=len({place.topic for place in list(self._extents)}),
            lag_records=lag if self._extents else None,
            delay_ms=self._delay_ms,
            relayed_records=self._relayed_records,
            uptime_s=self._uptime_s(),
            restarts=self._restarts,
            last_error=self._last_error,
            incidents=incidents[: -INCIDENTS_SHOWN - 1 : -1],
            incident_count=len(incidents),
        )

    def _uptime_s(self) -> float:
        running = self._state is State.RUNNING
        return round(time.monotonic() - self._running_since_s, 1) if running else 0.0

    def _detail(self, lag: int, incidents: list[Incident]) -> str:
        if self._state is not State.RUNNING:
            return self._last_error
        amiss = f"; {len(incidents)} incidents, last: {incidents[-1].text}" if incidents else ""
        return f"lag {lag:,} records{amiss}"

    def _run(self) -> None:
        backoff_s = FIRST_BACKOFF_S
        while not self._stopping.is_set():
            began_s = time.monotonic()
            try:
                self._relay()
            except SourceChanged:
                # What was read is not written; looking again finds out what happened.
                continue
            except (CatchmentError, KafkaException, BufferError) as error:
                self._note_failure(error)
            if time.monotonic() - began_s > self._config.relay.restart_backoff_max_s:
                backoff_s = FIRST_BACKOFF_S
            self._stopping.wait(backoff_s)
            backoff_s = min(2 * backoff_s, self._config.relay.restart_backoff_max_s)

    def _note_running(self) -> None:
        if self._state is not State.RUNNING:
            self._running_since_s = time.monotonic()
        self._state = State.RUNNING

    def _note_failure(self, error: Exception) -> None:
        if self._stopping.is_set():
            return
        cause = explain(f"Relaying {self._site.name}", error) if isinstance(error, KafkaException) else error
        if str(cause) != self._last_error:
            log.warning("%s: %s", self._site.name, cause)
        self._last_error = str(cause)
        self._restarts += 1
        self._state = State.RESTARTING

    def _relay(self) -> None:
        target = Target(self._config, self._site.name)
        self._positions, self._incidents = target.recover()
        self._read_to = {place: position.next_offset for place, position in self._positions.items()}
        self._extents, self._doubtful = {}, {}
        self._under_way, self._news = None, []
        source = Source(self._site, self._identity, self._config.relay)
        try:
            self._refuse_ourselves(source, target)
            look_at_s = 0.0
            while not self._stopping.is_set():
                if self._doubtful or time.monotonic() >= look_at_s:
                    self._settle(target)
                    self._look(source, target)
                    look_at_s = time.monotonic() + self._config.relay.look_interval_s
                    self._note_running()
                messages = source.take(POLL_S)
                self._settle(target)
                self._carry(messages, source, target)
        finally:
            source.close()

    def _refuse_ourselves(self, source: Source, target: Target) -> None:
        if source.cluster_id() == target.cluster_id():
            raise ConfigurationError(
                f"{self._site.bootstrap_servers} is this node's own Kafka: records would go round for ever",
                f"Remove it with `catchment site remove {self._site.name}`.",
            )

    def _look(self, source: Source, target: Target) -> None:
        """Takes up what is new, notes what is amiss, and leaves what is gone."""
        found = source.look()
        before, self._extents = self._extents, found
        source.leave(before.keys() - found.keys())
        changed = {
            place
            for place, extent in found.items()
            if place not in before or place in self._doubtful or before[place].topic_id != extent.topic_id
        }
        self._prepare(changed, source, target)
        self._take_up(changed, source, target)
        self._known_ends = {place: extent.end for place, extent in found.items()}
        self._doubtful = {}

    def _prepare(self, places: Iterable[Place], source: Source, target: Target) -> None:
        for topic in {place.topic for place in places}:
            partitions = sum(place.topic == topic for place in self._extents)
            target.ensure(topic, partitions, partial(source.settings_of, topic))

    def _take_up(self, places: Iterable[Place], source: Source, target: Target) -> None:
        positions: dict[Place, Position] = {}
        incidents: list[Incident] = []
        for place in places:
            start, amiss = self._judge(place)
            positions[place] = self._position(place, start, None if amiss else self._epoch(place))
            incidents += [amiss] if amiss else []
        fresh = {place: new for place, new in positions.items() if new != self._positions.get(place)}
        if fresh or incidents:
            target.note(fresh.values(), incidents)
        source.read_from(positions)
        self._advance(positions)
        self._incidents += incidents
        for amiss in incidents:
            log.error("%s: %s", self._site.name, amiss.text)

    def _judge(self, place: Place) -> tuple[int, Incident | None]:
        position, extent = self._positions.get(place), self._extents[place]
        start, amiss = judge(self._site.name, place, position, extent, self._known_ends.get(place))
        common_end = self._doubtful.get(place)
        if amiss or position is None or common_end is None or common_end >= position.next_offset:
            return start, amiss
        # The log grew again beyond where we were, and only its leader's terms tell that it is another one.
        start = max(common_end, extent.first)
        return start, incident(self._site.name, place, Finding.SET_BACK, start, position.next_offset - 1)

    def _carry(self, messages: list[Message], source: Source, target: Target) -> None:
        records = [message for message in messages if message.error() is None]
        self._news = (
            [message for message in messages if message.error()] if len(records) < len(messages) else []
        )
        if records:
            # Plain pairs: this is done for every record, the rest for every partition.
            last = dict(
                zip(
                    zip(map(Message.topic, records), map(Message.partition, records), strict=True),
                    records,
                    strict=True,
                )
            )
            positions = {
                place: self._position(place, (record.offset() or 0) + 1, record.leader_epoch())
                for place, record in ((Place(*pair), record) for pair, record in last.items())  # type: ignore[arg-type]
            }
            confirm = source.confirm({place.topic: self._extents[place].topic_id for place in positions})
            target.write(records, positions.values(), confirm)
            newest_ms = max(record.timestamp()[1] for record in last.values())
            self._under_way = UnderWay(positions, len(records), newest_ms)

    def _settle(self, target: Target) -> None:
        """Counts what was carried as soon as it is committed, and then heeds what came with it."""
        target.settle()
        if self._under_way:
            self._advance(self._under_way.positions)
            self._relayed_records += self._under_way.records
            self._delay_ms = round(max(0.0, time.time() * 1000 - self._under_way.newest_ms), 1)
        self._under_way = None
        news, self._news = self._news, []
        for message in news:
            error = message.error()
            if error:
                self._heed(message, error)

    def _heed(self, message: Message, error: KafkaError) -> None:
        """News of a partition: its end is reached, or it cannot be read on."""
        topic, partition = message.topic(), message.partition()
        if topic is None or partition is None:
            raise KafkaException(error)
        place = Place(topic, partition)
        if error.code() == KafkaError._PARTITION_EOF:
            # Beyond the last record there may be marks of transactions.
            self._read_to[place] = message.offset() or 0
        elif error.code() in _DOUBTS:
            common_end = _COMMON_END.search(error.str())
            self._doubtful[place] = int(common_end[1]) if common_end else None
        else:
            raise KafkaException(error)

    def _position(self, place: Place, next_offset: int, leader_epoch: int | None) -> Position:
        return Position(
            site=self._site.name,
            topic=place.topic,
            partition=place.partition,
            topic_id=self._extents[place].topic_id,
            next_offset=next_offset,
            leader_epoch=leader_epoch,
        )

    def _epoch(self, place: Place) -> int | None:
        known = self._positions.get(place)
        return known.leader_epoch if known else None

    def _advance(self, positions: dict[Place, Position]) -> None:
        self._positions |= positions
        self._read_to |= {place: position.next_offset for place, position in positions.items()}
