"""From events to alerts, in a thread of its own. In this order, and from the start again after any failure:

1. take over the node's transactions, so that no earlier notifier can write any more;
2. read back what was made of the events so far, and how far they were read;
3. read all declarations, then events from there on;
4. batch after batch: alerts, what stands now and the new position, in one transaction.
"""

import logging
import threading
import time
from collections.abc import Iterable

from confluent_kafka import KafkaException, Message

from catchment.alerts.events import EventSource
from catchment.alerts.fold import advance, advance_notice, alert_id
from catchment.alerts.journal import Journal, Remembered, Row, alert_row
from catchment.alerts.known import Known, Telling
from catchment.alerts.model import Alert, AlertState, Event, Notice, Standing
from catchment.alerts.sentence import average_of, notice_sentence, peak_of, sentence
from catchment.config import Config
from catchment.errors import CatchmentError, InvalidRecord, PartFailed
from catchment.health import State
from catchment.kafka.failures import explain
from catchment.records import REASON_HEADER, TOPIC_HEADER, Kind

log = logging.getLogger(__name__)

POLL_S = 1.0
FIRST_BACKOFF_S = 0.5
BACKOFF_MAX_S = 15.0


class Raiser:
    """Makes the alerts of this node's own rules."""

    def __init__(self, config: Config, journal: Journal, stopping: threading.Event) -> None:
        self._config = config
        self._journal = journal
        self._stopping = stopping
        self.state = State.STARTING
        self.last_error = ""
        self.alerts = 0
        self.unreadable = 0

    def run(self, remembered: Remembered | None = None) -> None:
        """Until it is told to stop; ends with an error only if another notifier has taken over."""
        backoff_s = FIRST_BACKOFF_S
        while not self._stopping.is_set():
            began_s = time.monotonic()
            try:
                self._raise_alerts(remembered or self._journal.recover())
            except PartFailed:
                raise
            except (CatchmentError, KafkaException) as error:
                self._note_failure(error)
            if time.monotonic() - began_s > BACKOFF_MAX_S:
                backoff_s = FIRST_BACKOFF_S
            self._stopping.wait(backoff_s)
            backoff_s = min(2 * backoff_s, BACKOFF_MAX_S)
            remembered = None

    def _note_failure(self, error: CatchmentError | KafkaException) -> None:
        cause = explain("Reading events", error) if isinstance(error, KafkaException) else error
        if str(cause) != self.last_error:
            log.warning("%s", cause)
        self.last_error = str(cause)
        self.state = State.RESTARTING

    def _raise_alerts(self, remembered: Remembered) -> None:
        known = Known(self._config.site)
        source = EventSource(self._config, known, remembered.next_offset)
        try:
            while not self._stopping.is_set():
                events = source.take(POLL_S)
                if events:
                    self._tell(events, known, remembered.standings)
                self.state = State.RUNNING
        finally:
            source.close()

    def _tell(self, messages: list[Message], known: Known, standings: dict[str, Standing]) -> None:
        """Writes what a batch means, and takes it for granted only when that is written."""
        changed: dict[str, Standing] = {}
        rows: list[Row] = []
        for message in messages:
            rows += self._rows_of(message, known, standings, changed)
        rows += [self._journal.standing(standing) for standing in changed.values()]
        rows.append(self._journal.position((messages[-1].offset() or 0) + 1))
        self._journal.write(rows)
        standings |= changed
        self.alerts += sum(row.topic == Kind.ALERTS.topic for row in rows)

    def _rows_of(
        self, message: Message, known: Known, before: dict[str, Standing], changed: dict[str, Standing]
    ) -> Iterable[Row]:
        try:
            event = known.decode(message.value())
        except InvalidRecord as error:
            self.unreadable += 1
            log.warning("an event at offset %s is a dead letter: %s", message.offset(), error.happened)
            return [_dead_letter(message, error.happened)]
        if event.node != self._config.site:
            return []
        if isinstance(event, Notice):
            return self._rows_of_notice(event, before, changed)
        standing, change = advance(changed.get(event.key, before.get(event.key)), event)
        telling = known.telling_of(event.rule)
        if change is AlertState.RAISED:
            standing = standing.model_copy(update={"channels": self._channels_of(event.rule, telling)})
        changed[event.key] = standing
        return [alert_row(_alert(event, standing, change, known, telling.message))] if change else []

    def _rows_of_notice(
        self, notice: Notice, before: dict[str, Standing], changed: dict[str, Standing]
    ) -> Iterable[Row]:
        standing, is_new = advance_notice(changed.get(notice.key, before.get(notice.key)), notice)
        changed[notice.key] = standing
        return [alert_row(_told(notice, [*self._config.alerts.channels]))] if is_new else []

    def _channels_of(self, rule: str, telling: Telling) -> list[str]:
        known = self._config.alerts.channels
        for name in telling.channels:
            if name not in known:
                log.warning("the rule %s tells %s, which is no channel yet: it will, once it is", rule, name)
        return telling.channels or [*known]


def _alert(event: Event, standing: Standing, state: AlertState, known: Known, template: str) -> Alert:
    subject = known.subject_of(event)
    return Alert(
        id=alert_id(standing),
        state=state,
        version=standing.changes,
        at_ms=event.timestamp,
        sentence=sentence(event, state, subject, template),
        # Whoever was told that it began is told that it is over.
        channels=standing.channels,
        node=event.node,
        site=event.site,
        sensor=event.sensor_id,
        sensor_name=subject.sensor_name,
        sensor_type=subject.sensor_type,
        device=subject.device,
        device_name=subject.device_name,
        location=subject.location,
        rule=event.rule,
        rule_version=event.rule_version,
        field=event.field,
        unit=event.unit,
        direction=event.direction,
        threshold=event.temperature_threshold,
        latest=event.latest,
        average=average_of(event),
        peak=peak_of(event),
        first_ms=event.first_ms,
        last_ms=event.last_ms,
        exceeded_for_ms=event.exceeded_for_ms,
        count=event.count,
    )


def _told(notice: Notice, channels: list[str]) -> Alert:
    return Alert(
        id=_notice_id(notice),
        state=AlertState.TOLD,
        version=notice.sequence,
        at_ms=notice.timestamp,
        sentence=notice_sentence(notice),
        channels=channels,
        node=notice.node,
        site=notice.site,
        sensor=notice.sensor_id,
        sensor_name=notice.sensor_id,
        sensor_type=None,
        device=None,
        device_name=None,
        location=None,
        rule=notice.rule,
        rule_version=0,
        field="",
        unit="",
        direction=None,
        threshold=None,
        latest=None,
        average=None,
        peak=None,
        first_ms=notice.timestamp,
        last_ms=notice.timestamp,
        exceeded_for_ms=0,
        count=1,
    )


def _notice_id(notice: Notice) -> str:
    """Several rows of a query can have the same number."""
    known_by = f"{notice.sequence}-{notice.digest}" if notice.is_of_query else str(notice.sequence)
    return f"{notice.key}/{known_by}"


def _dead_letter(message: Message, reason: str) -> Row:
    told = [(REASON_HEADER, reason.encode()), (TOPIC_HEADER, Kind.EVENTS.topic.encode())]
    return Row(Kind.DEADLETTER.topic, message.key(), message.value(), [*(message.headers() or []), *told])
