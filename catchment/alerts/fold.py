"""From events to changes of state: a pure fold for each sensor and rule.

- Raised and cleared alternate, whatever comes: a start while an alert is open changes nothing, nor does an
  end while none is.
- A lasting transgression whose start nobody saw (it had expired, say) is raised too: late beats never.
- A repeated event changes nothing. It is known by its number; a lower number with newer readings is no
  repeat: the numbering began anew, because the state of the pipeline was lost.
"""

from catchment.alerts.model import AlertState, Event, Notice, Phase, Standing

# More than a query says in a checkpoint interval, which is how far back a crash reaches.
MOST_TOLD = 500


def advance(standing: Standing | None, event: Event) -> tuple[Standing, AlertState | None]:
    """What stands after an event, and the change of state that it means, if any."""
    before = standing or Standing(key=event.key, sequence=0, at_ms=0)
    if event.sequence <= before.sequence and event.timestamp <= before.at_ms:
        return before, None
    after = before.model_copy(update={"sequence": event.sequence, "at_ms": event.timestamp})
    if before.is_open == (event.phase is not Phase.END):
        return after, None
    after = after.model_copy(update={"changes": before.changes + 1})
    if before.is_open:
        return after, AlertState.CLEARED
    return after.model_copy(update={"first_ms": event.first_ms}), AlertState.RAISED


def advance_notice(standing: Standing | None, notice: Notice) -> tuple[Standing, bool]:
    """What stands after a notice, and whether people have to be told; a repeated one they have been."""
    before = standing or Standing(key=notice.key, sequence=0, at_ms=0)
    if notice.is_of_query:
        return _said_by_query(before, notice)
    if notice.sequence <= before.sequence and notice.timestamp <= before.at_ms:
        return before, False
    # Senders say themselves what time it is: only the latest tells whether the numbering began anew.
    newest_ms = max(before.at_ms, notice.timestamp)
    return before.model_copy(update={"sequence": notice.sequence, "at_ms": newest_ms}), True


def _said_by_query(before: Standing, notice: Notice) -> tuple[Standing, bool]:
    """Rows come in any order, and after a crash again with another number: what one says is told once."""
    if notice.digest in before.told:
        return before, False
    told = [*before.told, notice.digest][-MOST_TOLD:]
    after = {"sequence": notice.sequence, "at_ms": max(before.at_ms, notice.timestamp), "told": told}
    return before.model_copy(update=after), True


def alert_id(standing: Standing) -> str:
    """The stable name of the newest alert."""
    return f"{standing.key}/{standing.first_ms}"
