"""Aggregates and the windows that they move over their rows."""

from enum import StrEnum

from pydantic import Field

from catchment.queries.model.stateless import Box
from catchment.queries.model.terms import (
    Declaration,
    Duration,
    Expression,
    Identifier,
    StreamRef,
    duration_ms,
)


class WindowKind(StrEnum):
    """What kind of window an aggregate moves over its rows."""

    TUMBLING = "tumbling"
    SLIDING = "sliding"
    SESSION = "session"
    COUNT = "count"
    NONE = "none"


class Window(Declaration):
    """Which rows are taken together. Exactly one of tumbling, sliding, session, count."""

    tumbling: Duration | None = Field(None, description="Windows of this length, one after the other.")
    sliding: Duration | None = Field(None, description="Windows of this length, one every `advance`.")
    session: Duration | None = Field(None, description="Until for so long nothing came.")
    count: int | None = Field(None, ge=1, le=1_000_000, description="Windows of so many rows.")
    advance: Duration | int | None = Field(None, description="How far the next one begins after this one.")
    order_by: Identifier | None = Field(None, description="What a count window's rows are in order of.")

    @property
    def kinds(self) -> tuple[WindowKind, ...]:
        kinds = (WindowKind.TUMBLING, WindowKind.SLIDING, WindowKind.SESSION, WindowKind.COUNT)
        return tuple(each for each in kinds if getattr(self, each.value) is not None)

    @property
    def kind(self) -> WindowKind:
        return self.kinds[0]

    @property
    def size_ms(self) -> int:
        """The length of a tumbling or sliding window, or the gap that ends a session."""
        return duration_ms(str(getattr(self, self.kind.value)))

    @property
    def advance_ms(self) -> int:
        return duration_ms(self.advance) if isinstance(self.advance, str) else self.size_ms

    @property
    def advance_rows(self) -> int:
        """How far a count window moves on: by default its whole size."""
        return self.advance if isinstance(self.advance, int) else self.count or 1


class Emit(StrEnum):
    """When an aggregate gives results."""

    UPDATES = "updates"
    FINAL = "final"


class Late(StrEnum):
    """What becomes of rows that come after their window was closed."""

    REVISE = "revise"
    SIDE = "side"
    DEADLETTER = "deadletter"


class Aggregate(Box):
    """Counts, sums and the like over windows of rows, for each group."""

    kind = "aggregate"
    stateful = True

    aggregate: StreamRef
    by: list[Identifier] = Field(default_factory=list, description="The columns of a group.")
    window: Window | None = Field(None, description="Without one, over all rows for ever.")
    time: Identifier | None = Field(
        None, description="The column that windows go by; else the stream's time."
    )
    values: dict[Identifier, Expression] = Field(min_length=1)
    emit: Emit = Field(Emit.UPDATES, description="On every change, or once when the window has closed.")
    lateness: Duration | None = Field(None, description="How late rows may come; else 10s.")
    late: Late = Field(
        Late.REVISE, description="Later ones revise the result, go to the stream `BOX.late` or dead letters."
    )
    keep: Duration | None = Field(None, description="How long a closed window can be revised; else 1h.")
    idle: Duration | None = Field(None, description="After so long without rows time goes on; else 5s.")

    @property
    def lateness_ms(self) -> int:
        return duration_ms(self.lateness or "10s")

    @property
    def keep_ms(self) -> int:
        return duration_ms(self.keep or "1h")

    @property
    def idle_ms(self) -> int:
        return duration_ms(self.idle or "5s")

    def streams(self, name: str) -> tuple[str, ...]:
        return (name, f"{name}.late") if self.late is Late.SIDE else (name,)
