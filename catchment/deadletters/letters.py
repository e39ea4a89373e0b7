"""What can be done with dead letters: look at them, and send them again, never twice by accident.

1. The letter is noted as being sent. 2. Its record goes to the topic that it came from, as it was. 3. The
letter is noted as sent. A crash after the first step leaves `sending`: whether it went out is not known
then, and it goes again only for whoever insists.
"""

import time
from typing import TypeVar

from confluent_kafka import KafkaError, Message, Producer

from catchment.config import Config
from catchment.deadletters.log import DeadLetterLog, Wanted
from catchment.deadletters.model import (
    Letter,
    Place,
    Progress,
    Replay,
    WholeLetter,
    digest_of,
    letter_of,
    original_headers,
    whole_letter_of,
)
from catchment.errors import Conflict, InvalidRequest
from catchment.kafka.access import WRITES
from catchment.kafka.clients import producer
from catchment.kafka.failures import explain
from catchment.kafka.parties import Party
from catchment.kafka.table import Tables
from catchment.records import Kind

# After so long sending is given up, and whoever asked for it is told.
SEND_TIMEOUT_S = 10.0
AnyLetter = TypeVar("AnyLetter", bound=Letter)
REPLAYABLE = {kind.topic for kind in WRITES[Party.REPLAYER]}


class DeadLetters:
    """The dead letters of a node."""

    def __init__(self, config: Config, tables: Tables) -> None:
        self._config = config
        self._log = DeadLetterLog(config, Party.API)
        self._tables = tables
        self._replays = tables.add(Kind.REPLAYS, Replay.model_validate_json)
        self._producer: Producer | None = None

    def page(self, wanted: Wanted, limit: int, before: Place | None) -> tuple[list[Letter], Place | None]:
        """Some letters, the newest first, and where the next ones begin."""
        self._tables.require_current()
        messages, following = self._log.newest(wanted, limit, before)
        return [self._noted(message, letter_of(message)) for message in messages], following

    def get(self, place: Place) -> WholeLetter:
        self._tables.require_current()
        message = self._log.get(place)
        return self._noted(message, whole_letter_of(message))

    def replay(self, place: Place, by: str, again: bool = False) -> Letter:
        """Sends a letter's record to where it came from."""
        self._tables.require_current()
        message = self._log.get(place)
        letter = letter_of(message)
        topic = self._destination(letter)
        digest = digest_of(message)
        note = Replay(digest=digest, progress=Progress.SENDING, topic=topic, at_ms=_now_ms(), by=by)

        def unless_sent(present: Replay | None) -> Replay:
            if present and not again:
                raise _sent_before(letter, present)
            return note

        self._replays.update(digest, unless_sent)
        self._send(topic, message)
        self._replays.update(digest, lambda _: note.model_copy(update={"progress": Progress.SENT}))
        return self._noted(message, letter)

    def _destination(self, letter: Letter) -> str:
        if letter.topic not in REPLAYABLE:
            raise InvalidRequest(
                f"The dead letter {letter.id} came from {letter.topic or 'no topic'}, and cannot go back",
                "Send it again from the device, or whatever made it.",
            )
        if letter.site and letter.site != self._config.site:
            raise InvalidRequest(
                f"The dead letter {letter.id} is of the site {letter.site}",
                "Send it again there: the centre gets what comes of it.",
            )
        return letter.topic

    def _send(self, topic: str, message: Message) -> None:
        outcome: list[KafkaError | None] = []
        if self._producer is None:
            timeout_ms = round(SEND_TIMEOUT_S * 1000)
            self._producer = producer(self._config, Party.REPLAYER, message_timeout_ms=timeout_ms)
        self._producer.produce(
            topic,
            message.value(),
            message.key(),
            headers=original_headers(message),
            on_delivery=lambda error, _: outcome.append(error),
        )
        self._producer.flush()
        if outcome[0]:
            raise explain(f"Sending to {topic}", outcome[0])

    def _noted(self, message: Message, letter: AnyLetter) -> AnyLetter:
        return letter.model_copy(update={"replay": self._replays.get(digest_of(message))})


def _sent_before(letter: Letter, replay: Replay) -> Conflict:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(replay.at_ms / 1000))
    how = "was sent again" if replay.progress is Progress.SENT else "may have been sent again"
    return Conflict(
        f"The dead letter {letter.id} {how} at {when} UTC by {replay.by}",
        "Insist with `again` (`--again` on the command line) if it is to go once more.",
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
