"""The alerts that the API shows: open and past, with who was told, in bounded memory."""

from typing import Any

from catchment.alerts.fold import alert_id
from catchment.alerts.model import Alert, AlertState, Delivery, Standing
from catchment.alerts.view import AlertBook

RAISED, CLEARED = AlertState.RAISED, AlertState.CLEARED


def alert(state: AlertState = RAISED, first_ms: int = 1, version: int = 1, **fields: Any) -> Alert:
    """A change of state with nothing out of the ordinary, except for what is given."""
    usual: dict[str, Any] = {
        "at_ms": first_ms + version,
        "sentence": "Oven 3 is hot",
        "channels": ["phone"],
        "node": "oslo",
        "site": "oslo",
        "sensor": "oven-3",
        "sensor_name": "Oven 3",
        "sensor_type": None,
        "device": None,
        "device_name": None,
        "location": None,
        "rule": "too-hot",
        "rule_version": 1,
        "field": "temperature",
        "unit": "C",
        "direction": "ABOVE",
        "threshold": 80.0,
        "latest": 83.1,
        "average": 82.0,
        "peak": 84.25,
        "last_ms": first_ms,
        "exceeded_for_ms": 0,
        "count": 1,
    }
    values = {**usual, **fields, "state": state, "first_ms": first_ms, "version": version}
    key = "/".join(values[name] for name in ("node", "site", "sensor", "rule"))
    standing = Standing(key=key, sequence=1, at_ms=1, first_ms=first_ms)
    return Alert.model_validate({"id": alert_id(standing), **values})


def delivery(of: Alert, attempt: int = 1) -> Delivery:
    return Delivery.model_validate(
        {
            "alert": of.id,
            "state": of.state,
            "channel": "phone",
            "outcome": "failed",
            "attempt": attempt,
            "at_ms": 5,
        }
    )


def test_an_alert_is_one_from_its_beginning_to_its_end() -> None:
    book = AlertBook()
    book.put(alert())
    (shown,) = book.all()
    assert (shown.state, shown.raised_ms, shown.cleared_ms) == (RAISED, 2, None)
    book.put(alert(CLEARED, version=2, sentence="It is over"))
    (shown,) = book.all()
    assert (shown.state, shown.raised_ms, shown.cleared_ms) == (CLEARED, 2, 3)
    assert shown.sentence == "It is over"


def test_what_is_read_again_changes_nothing() -> None:
    book = AlertBook()
    book.put(alert(CLEARED, version=2))
    book.put(alert())
    (shown,) = book.all()
    assert (shown.state, shown.raised_ms) == (CLEARED, None)


def test_the_newest_is_first() -> None:
    book = AlertBook()
    for first_ms in (5, 9, 7):
        book.put(alert(first_ms=first_ms, sensor=f"oven-{first_ms}"))
    assert [shown.first_ms for shown in book.all()] == [9, 7, 5]


def test_attempts_are_found_with_their_alert_the_newest_of_many() -> None:
    book = AlertBook()
    book.put(alert())
    for attempt in range(1, 301):
        book.put_delivery(delivery(alert(), attempt))
    found = book.find(alert().id)
    assert found
    assert [found.deliveries[0].attempt, found.deliveries[-1].attempt] == [101, 300]
    assert book.find("oslo/oslo/oven-3/too-hot/2") is None


def test_old_ones_are_forgotten_with_their_attempts_and_open_ones_never() -> None:
    book = AlertBook(past_kept=2)
    book.put(alert(first_ms=1, sensor="always-hot"))
    for first_ms in range(2, 8):
        over = alert(CLEARED, first_ms, version=2)
        book.put_delivery(delivery(over))
        book.put(over)
    assert [shown.first_ms for shown in book.all()] == [7, 6, 1]
    assert book.find(alert(first_ms=2).id) is None
