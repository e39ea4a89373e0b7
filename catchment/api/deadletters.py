"""Dead letters: what could not be taken further and why, and sending it again."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from catchment.api.access import Caller, allowed
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.deadletters.log import Wanted
from catchment.deadletters.model import Letter, Place, WholeLetter
from catchment.security.tokens import Scope

router = APIRouter(prefix="/api/v1/deadletters", tags=["deadletters"])

MOST_COUNTED = 10_000
_READ = [Depends(allowed(Scope.DEADLETTER_READ))]


class LetterPage(BaseModel):
    """Some dead letters, the newest first, and where the next ones begin."""

    items: list[Letter]
    next: str | None = Field(
        description="The cursor of the next page; null on the last one. A page may be empty before that."
    )


class Reason(BaseModel):
    """Dead letters that have the same reason."""

    reason: str
    topic: str | None = Field(description="Where they came from.")
    count: int
    newest_ms: int
    newest_id: str


class ReasonList(BaseModel):
    """All reasons, the most frequent first."""

    items: list[Reason]
    complete: bool = Field(description="Whether all dead letters were counted, and not only the newest.")


class ReplayRequest(BaseModel):
    """How to send it again."""

    again: bool = Field(False, description="Also if it was sent again before.")


@router.get(
    "",
    dependencies=_READ,
    responses=answers(401, 403, 422, 503),
    summary="Dead letters, the newest first",
    description="Needs the scope `deadletter:read`.",
)
def list_deadletters(
    services: ServicesOfApp,
    reason: Annotated[str | None, Query(max_length=200, description="What the reason contains.")] = None,
    topic: Annotated[str | None, Query(max_length=249, description="Where it came from.")] = None,
    since_ms: Annotated[int | None, Query(ge=0, description="Written at this time or later.")] = None,
    until_ms: Annotated[int | None, Query(ge=0, description="Written before this time.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="Most items of a page.")] = 100,
    cursor: Annotated[str | None, Query(max_length=50, description="The `next` of the page before.")] = None,
) -> LetterPage:
    wanted = Wanted(reason=reason, topic=topic, since_ms=since_ms, until_ms=until_ms)
    before = Place.parse(cursor) if cursor else None
    items, following = services.deadletters.page(wanted, limit, before)
    return LetterPage(items=items, next=following.id if following else None)


@router.get(
    "/reasons",
    dependencies=_READ,
    responses=answers(401, 403, 503),
    summary="Dead letters by reason",
    description="How many of the newest 10,000 have each reason, the most frequent first. Needs the scope "
    "`deadletter:read`.",
)
def list_reasons(services: ServicesOfApp) -> ReasonList:
    letters, following = services.deadletters.page(Wanted(), MOST_COUNTED, None)
    by_reason: dict[tuple[str, str | None], list[Letter]] = {}
    for letter in letters:
        by_reason.setdefault((letter.reason, letter.topic), []).append(letter)
    items = [
        Reason(reason=reason, topic=topic, count=len(those), newest_ms=those[0].at_ms, newest_id=those[0].id)
        for (reason, topic), those in by_reason.items()
    ]
    return ReasonList(items=sorted(items, key=lambda each: -each.count), complete=following is None)


@router.get(
    "/{identifier}",
    dependencies=_READ,
    responses=answers(401, 403, 404, 422, 503),
    summary="One dead letter with its bytes",
    description="Needs the scope `deadletter:read`.",
)
def get_deadletter(services: ServicesOfApp, identifier: str) -> WholeLetter:
    return services.deadletters.get(Place.parse(identifier))


@router.post(
    "/{identifier}/replay",
    responses=answers(401, 403, 404, 409, 422, 503),
    summary="Send its record to where it came from, as it was",
    description="One that was sent again before is refused, unless `again` is true. "
    "Needs the scope `deadletter:replay`.",
)
def replay_deadletter(
    services: ServicesOfApp,
    identifier: str,
    caller: Annotated[Caller, Depends(allowed(Scope.DEADLETTER_REPLAY))],
    request: ReplayRequest | None = None,
) -> Letter:
    again = request is not None and request.again
    return services.deadletters.replay(Place.parse(identifier), caller.holder.name, again)
