"""Whether windows make sense, and the columns that they add."""

from collections.abc import Iterator

from catchment.queries.graph import Columns, Stream
from catchment.queries.model import Aggregate, Emit, Window, WindowKind
from catchment.queries.problems import Problem

MOST_AT_ONCE = 1000
_OF_WINDOWS = ("lateness", "late", "keep", "idle", "time")


def window_columns(window: Window | None) -> Columns:
    """The columns that a window adds to the results of an aggregate."""
    if window is None or len(window.kinds) != 1:
        return {}
    index = {"window_index": "bigint"} if window.kind is WindowKind.COUNT else {}
    return {"window_start": "timestamp", "window_end": "timestamp", **index}


def window_problems(name: str, box: Aggregate, source: Stream) -> Iterator[Problem]:
    """All that is wrong with the window of a box, or with its having none."""
    place = ("boxes", name)
    if box.window is None:
        yield from _without(name, box)
        return
    if len(box.window.kinds) != 1:
        said = " and ".join(box.window.kinds) or "none"
        remedy = "Say exactly one of them"
        yield Problem((*place, "window"), f"it says {said} of tumbling, sliding, session, count", remedy)
        return
    yield from _advance_problems((*place, "window"), box.window)
    if box.window.order_by and box.window.kind is not WindowKind.COUNT:
        remedy = f"Write `time: {box.window.order_by}` beside `window`"
        yield Problem((*place, "window"), "order_by is of count windows", remedy)
    if not (box.time or box.window.order_by or source.time):
        happened = f"{source.name} has no column of time that its windows could go by"
        yield Problem(place, happened, "Add `time: COLUMN`, or select the time in the map box before")


def _without(name: str, box: Aggregate) -> Iterator[Problem]:
    if box.emit is Emit.FINAL:
        remedy = "Add a window, as `window: {tumbling: 10s}`, or write `emit: updates`"
        yield Problem(("boxes", name), "emit: final needs a window that closes", remedy)
    for key in _OF_WINDOWS:
        if getattr(box, key) != Aggregate.model_fields[key].default:
            remedy = "Add a window, as `window: {tumbling: 10s}`, or leave it out"
            yield Problem(("boxes", name, key), "it has a meaning only with a window", remedy)


def _advance_problems(place: tuple[str, ...], window: Window) -> Iterator[Problem]:
    at = (*place, "advance")
    if window.kind in (WindowKind.TUMBLING, WindowKind.SESSION):
        if window.advance is not None:
            yield Problem(at, f"{window.kind} windows have no advance", "Write `sliding`, or leave it out")
    elif window.kind is WindowKind.SLIDING:
        yield from _sliding(at, window)
    elif isinstance(window.advance, str):
        yield Problem(at, "a count window moves on by a number of rows", "Write a number, as `advance: 10`")
    elif window.count and window.advance_rows > window.count:
        yield Problem(at, "rows between the windows would be in none", f"Use at most {window.count}")


def _sliding(at: tuple[str, ...], window: Window) -> Iterator[Problem]:
    if not isinstance(window.advance, str):
        yield Problem(at, "a sliding window needs a duration to move on by", "Write one, as `advance: 10s`")
    elif window.advance_ms > window.size_ms:
        yield Problem(at, "rows between the windows would be in none", f"Use at most {window.sliding}")
    elif window.size_ms / window.advance_ms > MOST_AT_ONCE:
        happened = f"every row would be in more than {MOST_AT_ONCE} windows"
        yield Problem(at, happened, "Make it longer, or the windows shorter")
