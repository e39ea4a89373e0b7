"""Gaps: numbers of a stream that are missing, or that came late, and when."""

from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field, TypeAdapter

from catchment.api.access import allowed
from catchment.api.paging import Cursor, Limit, Next, page_of
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.ledger.gaps import Gap
from catchment.security.tokens import Scope

router = APIRouter(tags=["ledger"])

_Place = tuple[int, str]
_PLACE: TypeAdapter[_Place] = TypeAdapter(_Place)


class GapState(StrEnum):
    """Whether the numbers have come."""

    OPEN = "open"
    CLOSED = "closed"


class ListedGap(Gap, frozen=True):
    """A gap, and how large it is."""

    id: str = Field(description="Unique.")
    records: int


class GapPage(BaseModel):
    """Some gaps, and where the next ones begin."""

    items: list[ListedGap]
    next: Next


@router.get(
    "/api/v1/gaps",
    dependencies=[Depends(allowed(Scope.LEDGER_READ))],
    responses=answers(401, 403, 422),
    summary="Gaps, and when they closed",
    description="The one that opened last first: all that are open, and the newest 10,000 that closed. What "
    "was missing for less than five seconds is left out. Needs the scope `ledger:read`.",
)
def list_gaps(
    services: ServicesOfApp,
    state: Annotated[GapState | None, Query(description="Only open or only closed ones.")] = None,
    site: Annotated[str | None, Query(max_length=64, description="Of this site.")] = None,
    stream: Annotated[str | None, Query(max_length=200, description="Of this stream.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> GapPage:
    chosen = [
        gap
        for gap in services.gaps.all()
        if (state is None or (gap.closed_ms is None) is (state is GapState.OPEN))
        and site in (None, gap.site)
        and stream in (None, gap.stream)
    ]
    items, following = page_of(chosen, lambda gap: (-gap.opened_ms, gap.key), _PLACE, limit, cursor)
    listed = [ListedGap(**gap.model_dump(), id=gap.key, records=gap.last - gap.first + 1) for gap in items]
    return GapPage(items=listed, next=following)
