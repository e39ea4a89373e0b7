"""Changes that callers of the API ask for: sent to the pipeline, and followed to what became of them.

Every instance reads both what was sent and what became of it, whoever sent it, so that a transaction can
be asked for anywhere, also after a restart. They are known for an hour.
"""

import asyncio
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from confluent_kafka import KafkaError, Message, Producer
from pydantic import BaseModel, Field, ValidationError

from catchment.config import Config
from catchment.errors import BrokerUnavailable, NotFound
from catchment.kafka.clients import producer
from catchment.kafka.failures import explain
from catchment.kafka.follower import log
from catchment.kafka.parties import Party
from catchment.kafka.recent import RecentFollower
from catchment.records import STAMP_HEADER, Kind, Source, Stamp
from catchment.registry.model import key_of
from catchment.twins.model import ObjectChange, Outcome, Refusal, Result, TwinMessage

KEPT_S = 3600.0
MOST_KEPT = 50_000
WRITE_TIMEOUT_S = 10.0
_POLL_S = 0.2
_STOP_S = 2.0
_CALLERS = ("token/", "user/")


class TransactionState(StrEnum):
    """How far a transaction is; of several objects, one that was refused decides."""

    UNDER_WAY = "under-way"
    APPLIED = "applied"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


class Transaction(BaseModel):
    """What became of a change that a caller asked for."""

    transaction: str
    state: TransactionState
    objects: list[Outcome] = Field(description="What became of each object, as far as it is known.")


@dataclass
class _Known:
    """What has been read of one transaction. What became of it may be read first."""

    user: str = ""
    keys: frozenset[str] | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    heard_s: float = field(default_factory=time.monotonic)

    @property
    def is_over(self) -> bool:
        unreadable = any(each.refusal is Refusal.MALFORMED for each in self.outcomes.values())
        return unreadable or (self.keys is not None and self.keys <= self.outcomes.keys())


class Transactions:
    """Sends changes with stamps of its own, and knows what became of every caller's."""

    def __init__(self, config: Config) -> None:
        self._config = config
        epoch = time.time_ns() // 1_000_000
        self._source = Source(config.site, f"api-{config.twin_view.instance}", epoch, "twins")
        self._sequence = 0
        self._sending = threading.Lock()
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._lock = threading.Lock()
        self._waiting: dict[str, list[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = {}
        self._producer: Producer | None = None
        self._follower = RecentFollower(
            config, Party.API, [Kind.TWIN_MESSAGES.topic, Kind.TWIN_OUTCOMES.topic], self._take, KEPT_S
        )
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._deliver, name="twin messages", daemon=True)

    def start(self) -> None:
        self._producer = producer(
            self._config, Party.API, message_timeout_ms=round(WRITE_TIMEOUT_S * 1000), linger_ms=0
        )
        self._follower.start()
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._follower.stop()
        if self._thread.is_alive():
            self._thread.join(_STOP_S)

    async def send(self, user: str, objects: dict[str, ObjectChange]) -> str:
        """Asks for a change of objects of this site; gives the transaction when Kafka has it."""
        identifier = uuid.uuid4().hex
        message = TwinMessage(transaction=identifier, user=user, confirm=True, objects=objects)
        loop = asyncio.get_running_loop()
        written: asyncio.Future[KafkaError | None] = loop.create_future()

        def on_delivery(error: KafkaError | None, _: Message) -> None:
            loop.call_soon_threadsafe(_settle, written, error)

        self._produce(message.model_dump_json(exclude_none=True).encode(), on_delivery)
        self._expect(identifier, user, frozenset(key_of(self._config.site, each) for each in objects))
        if error := await written:
            raise explain(f"Writing to {Kind.TWIN_MESSAGES.topic}", error)
        return identifier

    def get(self, identifier: str, user: str) -> Transaction:
        """How far a transaction of this user is."""
        with self._lock:
            known = self._known.get(identifier)
            if known is None or known.user != user:
                raise NotFound(
                    f"There is no transaction {identifier!r} of {user}",
                    f"They are known for {KEPT_S / 3600:g} hour, to whoever sent them.",
                )
            return Transaction(
                transaction=identifier, state=_state(known), objects=[*known.outcomes.values()]
            )

    async def wait(self, identifier: str, user: str, timeout_s: float) -> Transaction:
        """The same, when it is over or the time is."""
        over = asyncio.Event()
        waiter = asyncio.get_running_loop(), over
        with self._lock:
            self._waiting.setdefault(identifier, []).append(waiter)
            if (known := self._known.get(identifier)) and known.is_over:
                over.set()
        try:
            async with asyncio.timeout(timeout_s):
                await over.wait()
        except TimeoutError:
            pass
        finally:
            with self._lock:
                waiters = self._waiting.get(identifier, [])
                if waiter in waiters:
                    waiters.remove(waiter)
                if not waiters:
                    self._waiting.pop(identifier, None)
        return self.get(identifier, user)

    def _produce(self, value: bytes, on_delivery: Callable[[KafkaError | None, Message], None]) -> None:
        if self._producer is None:
            raise BrokerUnavailable("Changes are not taken yet", "Ask again in a moment.")
        # Numbers have to be in the order of the log: what is not above the last counts as repeated.
        with self._sending:
            self._sequence += 1
            stamp = Stamp(self._source, self._sequence, time.time_ns() // 1000).encode()
            headers: list[tuple[str, str | bytes | None]] = [(STAMP_HEADER, stamp)]
            try:
                self._producer.produce(
                    Kind.TWIN_MESSAGES.topic,
                    value,
                    self._source.key,
                    headers=headers,
                    on_delivery=on_delivery,
                )
            except BufferError:
                raise BrokerUnavailable("Too many changes wait for Kafka", "Ask again in a moment.") from None

    def _deliver(self) -> None:
        assert self._producer is not None
        while not self._stopping.is_set():
            self._producer.poll(_POLL_S)
        self._producer.flush(_STOP_S)

    def _take(self, messages: Iterable[Message]) -> None:
        for message in messages:
            value = message.value() or b""
            try:
                if message.topic() == Kind.TWIN_MESSAGES.topic:
                    said = TwinMessage.model_validate_json(value)
                    keys = frozenset(key_of(self._config.site, each) for each in said.objects)
                    self._expect(said.transaction, said.user or "", keys)
                else:
                    self._learn(Outcome.model_validate_json(value))
            except ValidationError as error:
                log.warning("an entry of %s is passed over: %s", message.topic(), error)

    def _expect(self, identifier: str, user: str, keys: frozenset[str]) -> None:
        with self._lock:
            known = self._of(identifier)
            known.user, known.keys = user, keys
            self._notify(identifier, known)

    def _learn(self, outcome: Outcome) -> None:
        if not outcome.user.startswith(_CALLERS):
            return
        with self._lock:
            known = self._of(outcome.transaction)
            known.user = known.user or outcome.user
            if known.user == outcome.user:
                known.outcomes[key_of(outcome.site, outcome.id)] = outcome
                self._notify(outcome.transaction, known)

    def _of(self, identifier: str) -> _Known:
        known = self._known.setdefault(identifier, _Known())
        oldest_s = time.monotonic() - KEPT_S
        while len(self._known) > MOST_KEPT or next(iter(self._known.values())).heard_s < oldest_s:
            self._known.popitem(last=False)
        return known

    def _notify(self, identifier: str, known: _Known) -> None:
        if known.is_over:
            for loop, over in self._waiting.get(identifier, ()):
                loop.call_soon_threadsafe(over.set)


def _settle(written: "asyncio.Future[KafkaError | None]", error: KafkaError | None) -> None:
    # Whoever waited may have gone.
    if not written.done():
        written.set_result(error)


def _state(known: _Known) -> TransactionState:
    results = {outcome.result for outcome in known.outcomes.values()}
    if Result.REFUSED in results and known.is_over:
        return TransactionState.REFUSED
    if not known.is_over:
        return TransactionState.UNDER_WAY
    return TransactionState.APPLIED if Result.APPLIED in results else TransactionState.UNCHANGED
