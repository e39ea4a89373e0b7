"""Live state and rates as Server-Sent Events."""

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import StreamingResponse

from catchment.api.access import Caller, allowed
from catchment.api.events import Delta, Snapshot
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.security.tokens import Scope

router = APIRouter(tags=["live"])


class EventStream(StreamingResponse):
    """Server-Sent Events."""

    media_type = "text/event-stream"


@router.get(
    "/api/v1/live",
    response_class=EventStream,
    responses={
        200: {
            "model": Snapshot | Delta,
            "description": "The `data` of each event: first `snapshot`, then a `delta` each second.",
        },
        **answers(401, 403),
    },
    summary="Live state and rates",
    description="Needs the scopes `status:read` and `ledger:read`. The stream ends at sign-out, "
    "and when the token is revoked or expires.",
)
async def live(
    services: ServicesOfApp,
    caller: Annotated[Caller, Depends(allowed(Scope.STATUS_READ, Scope.LEDGER_READ))],
) -> EventStream:
    return EventStream(services.hub.events(lambda: caller.may_still(services)))
