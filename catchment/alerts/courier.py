"""From alerts to one channel, in a thread of its own: a channel that is away holds up nobody else.

Alerts go out one after the other, in the order in which they stand on the topic. For each:

1. write down that a request is under way (the intent);
2. send;
3. write down how it ended (the outcome), together with the new position if it was delivered.

| cut off | then |
|---|---|
| before 1 is written | it is sent, for the first time |
| after 1, before 3 | nobody knows whether it arrived: it is sent again, and says so |
| after 3 | it is not sent again |

A request that nobody answered in time is such a doubt as well; one that was refused is none.

An outcome that cannot be written (Kafka is away) is kept and written later: no request is repeated for that.
"""

import logging
import threading
import time
from dataclasses import dataclass

import orjson
from confluent_kafka import KafkaException, Message, TopicPartition
from pydantic import ValidationError

from catchment.alerts.channels import Letter, Sender, Undelivered
from catchment.alerts.journal import Journal, Row, delivery_row
from catchment.alerts.model import Alert, AlertState, ChannelState, Delivery, Outcome
from catchment.alerts.sentence import TEST
from catchment.alerts.template import fill
from catchment.config import Config
from catchment.errors import CatchmentError, PartFailed
from catchment.kafka.clients import consumer
from catchment.kafka.parties import Party
from catchment.records import Kind

log = logging.getLogger(__name__)

POLL_S = 1.0
RETRY_S = 1.0
_SUBJECTS = {AlertState.RAISED: "Alert", AlertState.CLEARED: "Over", AlertState.TOLD: "Notice"}
_DOUBT = " (Sent again after an interruption: it may have reached you before.)"


@dataclass
class Figures:
    """How a channel is."""

    delivered: int = 0
    failed: int = 0
    last_error: str = ""
    waiting: bool = False


class Courier:
    """Carries the alerts that name one channel."""

    def __init__(
        self,
        config: Config,
        name: str,
        sender: Sender,
        journal: Journal,
        state: ChannelState | None,
        stopping: threading.Event,
    ) -> None:
        self._config = config
        self._name = name
        self._sender = sender
        self._journal = journal
        self._state = state or ChannelState(channel=name, next_offset=0)
        self._stopping = stopping
        self.figures = Figures()

    def run(self) -> None:
        """Until it is told to stop; ends with an error only if another notifier has taken over."""
        reader = consumer(self._config, Party.NOTIFIER, queued_max_messages_kbytes=1024)
        reader.assign([TopicPartition(Kind.ALERTS.topic, 0, self._state.next_offset)])
        try:
            while not self._stopping.is_set():
                message = reader.poll(POLL_S)
                if message is not None:
                    self._take(message)
        finally:
            reader.close()
            self._sender.close()

    def _take(self, message: Message) -> None:
        error = message.error()
        if error:
            log.warning("%s: reading goes on after: %s", self._name, error)
            self._stopping.wait(RETRY_S)
            return
        alert = self._mine(message)
        if alert:
            self._deliver(message.offset() or 0, alert)

    def _mine(self, message: Message) -> Alert | None:
        """The alert, if it is to be told here; those of other nodes were told there."""
        try:
            alert = Alert.model_validate_json(message.value() or b"")
        except ValidationError:
            log.warning("%s: the alert at offset %s cannot be read", self._name, message.offset())
            return None
        wanted = alert.node == self._config.site and self._name in alert.channels
        return alert if wanted else None

    def _deliver(self, offset: int, alert: Alert) -> None:
        known = self._state if self._state.next_offset == offset else None
        attempt, in_doubt = (known.attempts, known.in_doubt) if known else (0, False)
        pause_s = self._config.alerts.retry_first_s
        while not self._stopping.is_set():
            attempt += 1
            if not self._note(offset, in_doubt=True, attempts=attempt):
                return
            try:
                self._sender.send(letter_of(alert, in_doubt))
            except Undelivered as error:
                in_doubt = in_doubt or error.in_doubt
                self._note_failure(offset, alert, attempt, str(error), in_doubt)
                self._stopping.wait(max(pause_s, error.retry_after_s))
                pause_s = min(2 * pause_s, self._config.alerts.retry_max_s)
            else:
                self._note_success(offset, alert, attempt, in_doubt)
                return

    def _note_failure(self, offset: int, alert: Alert, attempt: int, error: str, in_doubt: bool) -> None:
        if error != self.figures.last_error:
            log.warning("%s: %s cannot be delivered yet: %s", self._name, alert.message_id, error)
        self.figures.failed += 1
        self.figures.last_error, self.figures.waiting = error, True
        failed = self._delivery(alert, Outcome.FAILED, attempt, in_doubt, error)
        self._note(offset, delivery_row(failed), in_doubt=in_doubt, attempts=attempt)

    def _note_success(self, offset: int, alert: Alert, attempt: int, in_doubt: bool) -> None:
        self.figures.delivered += 1
        self.figures.last_error, self.figures.waiting = "", False
        delivered = self._delivery(alert, Outcome.DELIVERED, attempt, in_doubt)
        self._note(offset + 1, delivery_row(delivered))

    def _delivery(
        self, alert: Alert, outcome: Outcome, attempt: int, in_doubt: bool, error: str = ""
    ) -> Delivery:
        return Delivery(
            alert=alert.id,
            state=alert.state,
            channel=self._name,
            outcome=outcome,
            attempt=attempt,
            at_ms=time.time_ns() // 1_000_000,
            error=error,
            in_doubt=in_doubt,
        )

    def _note(self, next_offset: int, *rows: Row, in_doubt: bool = False, attempts: int = 0) -> bool:
        """Writes where the channel is, until it is written; says no if it was told to stop before that."""
        state = ChannelState(
            channel=self._name, next_offset=next_offset, in_doubt=in_doubt, attempts=attempts
        )
        while True:
            try:
                self._journal.write([*rows, self._journal.channel(state)])
            except PartFailed:
                raise
            except (CatchmentError, KafkaException) as error:
                log.warning("%s: %s", self._name, error)
                if self._stopping.wait(RETRY_S):
                    return False
            else:
                self._state = state
                return True


def letter_of(alert: Alert, in_doubt: bool = False) -> Letter:
    """An alert in the form in which it is sent."""
    return Letter(
        id=alert.message_id,
        subject=f"{_SUBJECTS[alert.state]}: {alert.sensor_name} ({alert.site})",
        text=alert.sentence + (_DOUBT if in_doubt else ""),
        body=orjson.dumps({**alert.model_dump(mode="json"), "in_doubt": in_doubt}),
    )


def trial_letter(site: str, channel: str) -> Letter:
    """What `catchment alerts test` sends."""
    told = fill(TEST, {"channel": channel, "site": site})
    body = orjson.dumps({"test": True, "node": site, "channel": channel, "sentence": told})
    return Letter(id=f"test/{site}/{time.time_ns()}", subject=f"Test of {channel}", text=told, body=body)
