"""Alerts as the API shows them, in memory by following the topics: each from its beginning to its end."""

import threading
from collections.abc import Iterable

from confluent_kafka import Message
from pydantic import Field, ValidationError

from catchment.alerts.acknowledged import Acknowledgement
from catchment.alerts.model import Alert, AlertState, Delivery
from catchment.config import Config
from catchment.kafka.follower import TopicFollower, log
from catchment.kafka.parties import Party
from catchment.records import Kind

# Of those that are over, the newest so many; older ones are on the topic, and in the lake.
PAST_KEPT = 10_000
DELIVERIES_KEPT = 200


class AlertSummary(Alert):
    """An alert as it stands now: what is said of it is of its newest change."""

    raised_ms: int | None = Field(description="Null if its beginning has expired.")
    cleared_ms: int | None = Field(description="Null while it is open.")
    acknowledged: Acknowledgement | None = Field(None, description="Who has taken note of it first.")


class AlertDetail(AlertSummary):
    """An alert, and each attempt to tell of it."""

    deliveries: list[Delivery] = Field(description="The newest attempts, oldest first.")


class AlertBook:
    """Every open alert and the newest past ones; a fold over what the topics say."""

    def __init__(self, past_kept: int = PAST_KEPT) -> None:
        self.changes = 0
        self._past_kept = past_kept
        self._alerts: dict[str, AlertSummary] = {}
        self._deliveries: dict[str, list[Delivery]] = {}
        self._past: dict[str, None] = {}
        self._lock = threading.Lock()

    def put(self, alert: Alert) -> None:
        with self._lock:
            before = self._alerts.get(alert.id)
            if before and before.version >= alert.version:
                return
            self.changes += 1
            is_open = alert.state is AlertState.RAISED
            has_begun = alert.state is not AlertState.CLEARED
            raised_ms = alert.at_ms if has_begun else before.raised_ms if before else None
            times = {"raised_ms": raised_ms, "cleared_ms": None if is_open else alert.at_ms}
            self._alerts[alert.id] = AlertSummary(**alert.model_dump(), **times)
            if not is_open:
                self._past[alert.id] = None
            self._forget_oldest()

    def put_delivery(self, delivery: Delivery) -> None:
        with self._lock:
            attempts = self._deliveries.setdefault(delivery.alert, [])
            attempts.append(delivery)
            del attempts[:-DELIVERIES_KEPT]
            if delivery.alert not in self._alerts and len(self._deliveries) > 2 * self._past_kept:
                del self._deliveries[delivery.alert]

    def all(self) -> list[AlertSummary]:
        """Newest first."""
        with self._lock:
            alerts = list(self._alerts.values())
        return sorted(alerts, key=lambda alert: (-alert.first_ms, alert.id))

    def find(self, alert_id: str) -> AlertDetail | None:
        with self._lock:
            alert = self._alerts.get(alert_id)
            deliveries = list(self._deliveries.get(alert_id, ()))
        return AlertDetail(**alert.model_dump(), deliveries=deliveries) if alert else None

    def _forget_oldest(self) -> None:
        while len(self._past) > self._past_kept:
            oldest = next(iter(self._past))
            del self._past[oldest], self._alerts[oldest]
            self._deliveries.pop(oldest, None)


class AlertView:
    """Keeps a book up to date."""

    def __init__(self, config: Config, party: Party, book: AlertBook) -> None:
        self._book = book
        self._follower = TopicFollower(config, party, [Kind.ALERTS.topic, Kind.DELIVERIES.topic], self._take)

    def start(self) -> None:
        self._follower.start()

    def stop(self) -> None:
        self._follower.stop()

    def _take(self, messages: Iterable[Message]) -> None:
        for message in messages:
            value = message.value() or b""
            try:
                if message.topic() == Kind.ALERTS.topic:
                    self._book.put(Alert.model_validate_json(value))
                else:
                    self._book.put_delivery(Delivery.model_validate_json(value))
            except ValidationError as error:
                log.warning("an entry of %s is passed over: %s", message.topic(), error)
