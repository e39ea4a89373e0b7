"""Events become changes of state: raised and cleared in turn, whatever is repeated, cut off or begun anew."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from catchment.alerts.fold import advance, advance_notice, alert_id
from catchment.alerts.model import AlertState, Event, Notice, Phase, Standing
from tests.events import event, notice

RAISED, CLEARED = AlertState.RAISED, AlertState.CLEARED
Change = tuple[str, AlertState]


def fold(events: Iterable[Event], standing: Standing | None = None) -> tuple[Standing | None, list[Change]]:
    changes: list[Change] = []
    for each in events:
        standing, change = advance(standing, each)
        if change:
            changes.append((alert_id(standing), change))
    return standing, changes


def story(lasting: list[int], ended: bool = True) -> list[Event]:
    """Transgressions one after the other, each with so many events while it lasted."""
    phases: list[tuple[int, Phase]] = []
    for number, times in enumerate(lasting):
        phases += [(number, Phase.START), *[(number, Phase.LASTING)] * times, (number, Phase.END)]
    if not ended:
        phases = phases[:-1]
    return [
        event(phase, sequence, first_ms=1000 * number, timestamp=1000 * number + sequence)
        for sequence, (number, phase) in enumerate(phases, 1)
    ]


def told(count: int) -> list[Change]:
    return [
        (f"oslo/oslo/oven-3/too-hot/{1000 * number}", state)
        for number in range(count)
        for state in (RAISED, CLEARED)
    ]


stories = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(story)


def test_a_transgression_is_raised_once_and_cleared_once() -> None:
    _, changes = fold(story([2, 0]))
    assert changes == told(2)


@given(st.data(), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_what_is_replayed_from_any_earlier_place_changes_nothing(
    data: st.DataObject, lasting: list[int]
) -> None:
    """The query's own crashes write events again; ours read them again."""
    events = story(lasting)
    read: list[Event] = []
    place = 0
    while place < len(events):
        further = data.draw(st.integers(place + 1, len(events)))
        read += events[data.draw(st.integers(0, place)) : further]
        place = further
    assert fold(read)[1] == told(len(lasting))


@given(stories, st.data())
def test_going_on_from_what_was_kept_is_the_same_as_never_having_stopped(
    events: list[Event], data: st.DataObject
) -> None:
    stop = data.draw(st.integers(0, len(events)))
    kept, before = fold(events[:stop])
    restored = Standing.model_validate_json(kept.model_dump_json()) if kept else None
    again = data.draw(st.integers(0, stop))
    _, after = fold(events[again:], restored)
    assert before + after == fold(events)[1]


@given(st.lists(st.builds(event, st.sampled_from(Phase), st.integers(1, 9), timestamp=st.integers(0, 9))))
def test_raised_and_cleared_alternate_whatever_comes(events: list[Event]) -> None:
    standing, changes = fold(events)
    states = [state for _, state in changes]
    assert states == [RAISED, CLEARED] * (len(states) // 2) + [RAISED] * (len(states) % 2)
    if standing:
        assert standing.is_open == (len(states) % 2 == 1)
        assert standing.changes == len(states)


def test_a_transgression_whose_start_had_expired_is_raised_late() -> None:
    assert fold(story([2])[1:])[1] == told(1)


def test_the_end_of_what_nobody_was_told_of_is_no_news() -> None:
    assert fold(story([0])[1:])[1] == []


def test_when_the_numbering_begins_anew_old_events_are_known_by_their_time() -> None:
    """The pipeline's state was lost: it counts from 1 again, first through what is long over."""
    standing, _ = fold(story([0, 0]))
    again = story([0])
    later = [
        event(each.phase, each.sequence + 2, first_ms=9000, timestamp=9000 + each.sequence) for each in again
    ]
    numbered_low = [each.model_copy(update={"sequence": each.sequence - 2}) for each in later]
    assert fold(again, standing)[1] == []
    assert fold([numbered_low[0], numbered_low[1]], standing)[1][0] == (
        "oslo/oslo/oven-3/too-hot/9000",
        RAISED,
    )


@given(st.lists(st.integers(0, 50), min_size=1, max_size=10), st.data())
def test_a_notice_is_told_once_whatever_time_it_says_and_however_often_it_comes(
    times_ms: list[int], data: st.DataObject
) -> None:
    notices = [notice(sequence, timestamp=ms) for sequence, ms in enumerate(times_ms, 1)]
    again = data.draw(st.integers(0, len(notices)))
    standing: Standing | None = None
    told = []
    for each in [*notices, *notices[again:]]:
        standing, is_new = advance_notice(standing, each)
        told += [each.sequence] * is_new
    assert told == [each.sequence for each in notices]


def test_notices_whose_numbering_began_anew_are_told() -> None:
    standing, _ = advance_notice(None, notice(5, timestamp=100))
    assert advance_notice(standing, notice(1, timestamp=101))[1]


def test_rows_of_a_query_are_told_in_whatever_order_they_come_and_each_sentence_once() -> None:
    def said(sequence: int, at_ms: int, row: str, text: str = "it is hot") -> Notice:
        fields = {"timestamp": at_ms, "rule": "query/hot", "transaction": row, "text": text}
        return notice(sequence, **fields)

    rows = [said(9, 90, "a"), said(5, 50, "b"), said(9, 90, "c"), said(10, 95, "a", "it is hotter")]
    after_a_crash = [said(20, 50, "b"), said(21, 90, "a")]
    standing: Standing | None = None
    told = []
    for each in [*rows, *after_a_crash]:
        standing, is_new = advance_notice(standing, each)
        told += [(each.transaction, each.text)] * is_new
    assert told == [("a", "it is hot"), ("b", "it is hot"), ("c", "it is hot"), ("a", "it is hotter")]
    assert standing
    assert (standing.at_ms, len(standing.told)) == (95, 4)
