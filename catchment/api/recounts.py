"""Counting anew from the log itself: started, followed and stopped."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field

from catchment.api.access import Caller, allowed
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.ledger.recounts import Recount
from catchment.security.tokens import Scope

router = APIRouter(prefix="/api/v1/proof/recount", tags=["ledger"])

_Reader = Annotated[Caller, Depends(allowed(Scope.LEDGER_READ))]


class RecountRequest(BaseModel):
    """How a recount is made."""

    wait_s: float = Field(15, ge=0, le=600, description="How long what is under way may take to arrive.")


@router.post(
    "",
    status_code=202,
    responses=answers(401, 403, 409, 422),
    summary="Count again",
    description="Reads all records of this node from the beginning, instead of trusting the running counts, "
    "in a process of its own: a million take some seconds. One runs at a time. Needs the scope "
    "`ledger:read`.",
)
def start_recount(services: ServicesOfApp, caller: _Reader, request: RecountRequest | None = None) -> Recount:
    return services.recounts.start(caller.party, (request or RecountRequest()).wait_s)


@router.get(
    "",
    dependencies=[Depends(allowed(Scope.LEDGER_READ))],
    responses={
        200: {"model": Recount},
        204: {"description": "None was asked for since the service started"},
        **answers(401, 403),
    },
    response_model=None,
    summary="How far the recount is",
    description="The one that is under way, or the last one with what it found. Needs the scope "
    "`ledger:read`.",
)
def recount(services: ServicesOfApp) -> Recount | Response:
    return services.recounts.latest or Response(status_code=204)


@router.delete(
    "",
    status_code=204,
    dependencies=[Depends(allowed(Scope.LEDGER_READ))],
    responses=answers(401, 403),
    summary="Stop the recount",
    description="If there is one under way. Needs the scope `ledger:read`.",
)
def stop_recount(services: ServicesOfApp) -> None:
    services.recounts.stop()
