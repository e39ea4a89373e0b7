"""Twins for tests: types and states written to the shared broker's topics, as the pipeline writes them."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Producer

from catchment.config import Config
from catchment.kafka.clients import producer
from catchment.kafka.parties import Party
from catchment.kafka.recent import RecentFollower
from catchment.records import Kind
from catchment.twins.changelog import VERSION_HEADER
from catchment.twins.model import ObjectChange, Outcome, Refusal, Result, Twin, TwinMessage, TwinType

FLUSH_S = 30.0


def type_of(name: str = "machine", **fields: Any) -> TwinType:
    usual = {"site": "local", "id": name, "version": 1, "updated_ms": 1, "name": name}
    return TwinType.model_validate({**usual, **fields})


def twin(identifier: str = "oven", version: int = 1, **fields: Any) -> Twin:
    """An object with nothing out of the ordinary, except for what is given."""
    usual: dict[str, Any] = {
        "site": "local",
        "type": "machine",
        "owner": "feed/tests",
        "created_ms": 1,
        "updated_ms": version,
        "transaction": f"t-{version}",
        "values": {},
    }
    return Twin.model_validate({**usual, "id": identifier, "version": version, **fields})


class TwinWriter:
    """Writes what the API and the pipeline would."""

    def __init__(self, config: Config) -> None:
        # The pipeline's sink is a Java client.
        self._producer: Producer = producer(config, Party.ADMIN, partitioner="murmur2_random")

    def types(self, *types: TwinType) -> None:
        for each in types:
            self._producer.produce(Kind.TWIN_TYPES.topic, each.model_dump_json(), each.key)
        self.flush()

    def put(self, twins: Iterable[Twin], partition: int | None = None) -> None:
        for each in twins:
            # -1 leaves it to the partitioner.
            where = -1 if partition is None else partition
            self._producer.produce(Kind.TWINS.topic, each.model_dump_json(), each.key, where)
            self._producer.poll(0)
        self.flush()

    def delete(self, twin: Twin) -> None:
        headers: list[tuple[str, str | bytes | None]] = [(VERSION_HEADER, str(twin.version).encode())]
        self._producer.produce(Kind.TWINS.topic, None, twin.key, headers=headers)
        self.flush()

    def outcome(self, outcome: Outcome) -> None:
        self._producer.produce(Kind.TWIN_OUTCOMES.topic, outcome.model_dump_json(), outcome.user)
        self.flush()

    def flush(self) -> None:
        assert self._producer.flush(FLUSH_S) == 0


class Decider:
    """Stands where the pipeline stands, for one caller: says of every message what it is told to say.

    It applies nothing of its own: tests put the twin and the outcome that they want to see handled.
    """

    def __init__(self, config: Config) -> None:
        self.messages: list[TwinMessage] = []
        self._writer = TwinWriter(config)
        self._answers: dict[str, tuple[Result, Refusal | None, int | None, Twin | None]] = {}
        self._heard = threading.Condition()
        self._follower = RecentFollower(config, Party.ADMIN, [Kind.TWIN_MESSAGES.topic], self._take)

    def decide(
        self,
        identifier: str,
        result: Result = Result.APPLIED,
        *,
        refusal: Refusal | None = None,
        version: int | None = None,
        state: Twin | None = None,
    ) -> None:
        """What becomes of changes of this object from now on."""
        self._answers[identifier] = result, refusal, version, state

    def changes_of(self, identifier: str) -> list[ObjectChange]:
        return [message.objects[identifier] for message in self.messages if identifier in message.objects]

    def start(self) -> None:
        self._follower.start()
        assert self._follower.following.wait(30)

    def stop(self) -> None:
        self._follower.stop()

    def _take(self, messages: Iterable[Any]) -> None:
        for message in messages:
            said = TwinMessage.model_validate_json(message.value())
            self.messages.append(said)
            for identifier in said.objects:
                self._answer(said, identifier)

    def _answer(self, said: TwinMessage, identifier: str) -> None:
        if identifier not in self._answers:
            return
        result, refusal, version, state = self._answers[identifier]
        if state is not None:
            self._writer.put([state])
        self._writer.outcome(
            Outcome(
                transaction=said.transaction,
                user=said.user or "",
                site="local",
                id=identifier,
                result=result,
                refusal=refusal,
                version=version,
                reason=f"{refusal.value}, as it was decided" if refusal else "",
                at_ms=1,
            )
        )


@contextmanager
def deciding(config: Config) -> Iterator[Decider]:
    decider = Decider(config)
    decider.start()
    try:
        yield decider
    finally:
        decider.stop()


def eventually(
    reached: Callable[[], bool], seen: Callable[[], str] = lambda: "", timeout_s: float = 15.0
) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not reached():
        assert time.monotonic() < deadline_s, f"it did not come about in time; last: {seen()}"
        time.sleep(0.02)
