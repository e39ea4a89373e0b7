"""The alerts that the API shows: open and past, with who was told, in bounded memory."""

from catchment.alerts.model import AlertState
from catchment.alerts.view import AlertBook
from tests.events import alert, delivery

RAISED, CLEARED = AlertState.RAISED, AlertState.CLEARED


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


def test_a_notice_is_over_as_soon_as_it_is_told() -> None:
    book = AlertBook()
    book.put(alert(AlertState.TOLD, first_ms=5))
    (told,) = book.all()
    assert (told.raised_ms, told.cleared_ms) == (6, 6)
