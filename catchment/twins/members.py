"""Which instances of the view are there, and which partitions each has: told by all on one small topic.

An instance says twice a second that it is there, or seldom if it is alone. Nobody is dead while Kafka is
away: an instance counts as gone when others were heard after it had been silent for some time.
"""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterable

from confluent_kafka import Message
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from catchment.config import Config
from catchment.kafka.clients import producer
from catchment.kafka.follower import TopicFollower
from catchment.kafka.parties import Party
from catchment.records import Kind

INTERVAL_S = 0.5
# Nobody listens to an instance that is alone; whoever comes is answered at once.
ALONE_INTERVAL_S = 15.0
SILENCE_S = 3.0
STOP_S = 1.0
_CAUGHT_UP_WITHIN_S = 5.0
log = logging.getLogger(__name__)


class Presence(BaseModel):
    """What an instance says of itself: a message on `twin-views`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    instance: str
    host: str = Field(description="Where the others reach it.")
    port: int
    partitions: list[int] = Field(description="Those that it has read to their end and answers for.")
    started_ms: int


class Members:
    """Tells of this instance, and knows the others."""

    def __init__(self, config: Config, present: Callable[[], Presence]) -> None:
        self._name = config.twin_view.instance
        self._present = present
        self._lock = threading.Lock()
        # What each said last, and when that was, by this machine's clock.
        self._heard: dict[str, tuple[Presence, float]] = {}
        self._own_heard_s = 0.0
        self._news = threading.Event()
        self._stopping = threading.Event()
        # What could not be said in time is not worth saying any more.
        self._producer = producer(config, Party.API, message_timeout_ms=round(SILENCE_S * 1000))
        self._follower = TopicFollower(config, Party.API, [Kind.TWIN_VIEWS.topic], self._take)
        self._thread = threading.Thread(target=self._run, name="twin presence", daemon=True)

    def start(self) -> None:
        self._follower.start()
        self._thread.start()

    def stop(self) -> None:
        """Says good-bye, so that nobody waits for silence."""
        self._stopping.set()
        self._news.set()
        self._thread.join(STOP_S)
        self._producer.produce(Kind.TWIN_VIEWS.topic, None, self._name)
        self._producer.flush(STOP_S)
        self._follower.stop()

    def announce(self) -> None:
        """Tells at once of what has changed."""
        self._news.set()

    @property
    def known(self) -> bool:
        """Whether the others are known: what was told before this instance came has been read."""
        return self._own_heard_s > 0 and self._follower.caught_up

    def alive(self) -> dict[str, Presence]:
        """Those that are there, by their names; this instance among them."""
        with self._lock:
            heard = dict(self._heard)
            since_s = self._own_heard_s - SILENCE_S
        others = {
            name: said for name, (said, at_s) in heard.items() if at_s >= since_s and name != self._name
        }
        return dict(sorted({**others, self._name: self._present()}.items()))

    def _run(self) -> None:
        while not self._stopping.is_set():
            presence = self._present()
            self._producer.produce(Kind.TWIN_VIEWS.topic, presence.model_dump_json(), self._name)
            self._producer.poll(0)
            self._news.wait(INTERVAL_S if len(self.alive()) > 1 else ALONE_INTERVAL_S)
            self._news.clear()

    def _take(self, messages: Iterable[Message]) -> None:
        now_s, wall_ms = time.monotonic(), time.time() * 1000
        with self._lock:
            for message in messages:
                name, value = (message.key() or b"").decode(errors="replace"), message.value()
                # What lies on the topic since before this instance came is as old as Kafka says.
                age_s = max(0.0, (wall_ms - message.timestamp()[1]) / 1000)
                self._hear(name, value, now_s - (age_s if age_s > _CAUGHT_UP_WITHIN_S else 0))

    def _hear(self, name: str, value: bytes | None, at_s: float) -> None:
        if value is None:
            self._heard.pop(name, None)
            return
        try:
            presence = Presence.model_validate_json(value)
        except ValidationError as error:
            log.warning("what %s says of itself is passed over: %s", name, error)
            return
        _, before_s = self._heard.get(name, (presence, -math.inf))
        if name != self._name and at_s - before_s > SILENCE_S:
            self._news.set()
        self._heard[name] = presence, at_s
        if name == self._name:
            self._own_heard_s = at_s
            if presence.started_ms > self._present().started_ms:
                log.warning("two instances are called %s: give each a twin_view.instance of its own", name)


def share_of(name: str, names: Iterable[str], partitions: int) -> set[int]:
    """The partitions that an instance has to have: dealt out in turn, the same for all who compute it."""
    ordered = sorted(names)
    place = ordered.index(name)
    return set(range(place, partitions, len(ordered)))
