"""Whether the service lives, and whether it is worth sending requests to. Neither needs a token."""

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, Field

from catchment.api.services import ServicesOfApp

router = APIRouter(tags=["probes"])


class Readiness(BaseModel):
    """The answer to a probe of readiness."""

    ready: bool = Field(description="Whether this service has read all that it answers from.")
    reading: list[str] = Field(
        description="What it has still to read: `ledger`, or `declarations` (registrations, schemas, rules)."
    )


@router.get("/ping", summary="Does the service live", response_class=PlainTextResponse)
async def ping() -> str:
    return "pong"


@router.get(
    "/ready",
    summary="Can the service answer",
    description="Of this service alone: the console stays reachable while another component is down.",
    responses={503: {"model": Readiness, "description": "Not yet, or not any more"}},
)
async def ready(services: ServicesOfApp, response: Response) -> Readiness:
    unread = services.unread
    if unread:
        response.status_code = 503
    return Readiness(ready=not unread, reading=unread)
