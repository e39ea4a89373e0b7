"""Twins: one, many and all of them, searched and sorted, as JSON, as lines of JSON, and live."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from catchment.api.access import Caller, allowed
from catchment.api.declared import Id
from catchment.api.live import EventStream
from catchment.api.paging import Cursor, Limit, Next, decode_place, encode_place
from catchment.api.problems import answers
from catchment.api.services import Services, ServicesOfApp
from catchment.config.section import Name
from catchment.security.tokens import Scope
from catchment.twins.model import Twin
from catchment.twins.search.question import PLACE, Question
from catchment.twins.transactions import Transaction

router = APIRouter(prefix="/api/v1/twins", tags=["twins"])

LINES = "application/x-ndjson"
EVENTS = "text/event-stream"

Reader = Annotated[Caller, Depends(allowed(Scope.TWINS_READ))]
Where = Annotated[
    str | None,
    Query(max_length=4000, description='Which ones, such as `temperature > 80 and site = "oslo"`.'),
]
Sort = Annotated[
    str | None,
    Query(max_length=300, description="By which value or member; with `-` before it, the highest first."),
]
OfSite = Annotated[Name | None, Query(description="The site; by default this node's own.")]


class TwinPage(BaseModel):
    """Some objects, and where the next ones begin."""

    items: list[Twin]
    next: Next
    missing_partitions: list[int] = Field(
        description="Partitions of which no instance answers at this moment: their objects are not here."
    )


class Ready(BaseModel):
    """The event `ready`: what is there has been told, and what changes follows."""

    missing_partitions: list[int]


class Gone(BaseModel):
    """The event `gone`: an object was deleted, or is not meant or not to be seen any more."""

    site: str
    id: str


_EVENTS_TOLD = {
    EVENTS: {
        "schema": {
            "anyOf": [
                {"$ref": "#/components/schemas/Twin"},
                Ready.model_json_schema(),
                Gone.model_json_schema(),
            ],
            "description": "The `data` of the events `twin`, `ready` and `gone`.",
        }
    }
}


def _shown(description: str, *others: str) -> dict[int | str, dict[str, Any]]:
    lines = {LINES: {"schema": {"type": "string", "description": "An object a line; the last is the end."}}}
    content = {**(lines if LINES in others else {}), **_EVENTS_TOLD}
    return {200: {"description": description, "content": content}}


@router.get(
    "",
    response_model=TwinPage,
    responses=_shown("A page; or all as lines; or live changes.", LINES) | answers(401, 403, 422, 503),
    summary="Objects that the caller may see",
    description="Sorted by site and id unless `sort` says otherwise. Accepting "
    f"`{LINES}`, all of them in no order, from all instances at once; accepting `{EVENTS}`, "
    "those that are there and what changes. Needs the scope `twins:read`.",
)
async def list_twins(
    request: Request,
    services: ServicesOfApp,
    caller: Reader,
    where: Where = None,
    sort: Sort = None,
    site: Annotated[Name | None, Query(description="Only those of this site.")] = None,
    type_: Annotated[Name | None, Query(alias="type", description="Only those of this type.")] = None,
    ids: Annotated[list[Name] | None, Query(max_length=1000, description="Only these.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    question = Question.of(where, sort, site=site, type_=type_, ids=ids)
    wanted = request.headers.get("accept", "")
    services.twins.view.require_ready(caller.party)
    if EVENTS in wanted:
        return live(services, caller, question)
    if LINES in wanted:
        return StreamingResponse(_lines(services, caller, question), media_type=LINES)
    after = decode_place(PLACE, cursor) if cursor else None
    found, missing = await services.twins.view.page(question.part(limit + 1, after), caller.party)
    return _page(found[:limit], len(found) > limit, missing)


@router.get(
    "/{identifier}",
    response_model=Twin,
    responses=_shown("The object; or its live changes.") | answers(401, 403, 404, 422, 503),
    summary="One object",
    description="Its version is the ETag. Accepting "
    f"`{EVENTS}`, it and what changes. Needs the scope `twins:read`.",
)
async def get_twin(
    request: Request, services: ServicesOfApp, caller: Reader, identifier: Id, site: OfSite = None
) -> Response:
    place = site or services.config.site
    entry = await services.twins.view.get(place, identifier, caller.party)
    if EVENTS in request.headers.get("accept", ""):
        return live(services, caller, Question.of(site=place, ids=[identifier]))
    return json_response(entry.body, headers={"ETag": f'"{entry.version}"'})


@router.get(
    "/transactions/{transaction}",
    responses=answers(401, 403, 404, 422),
    summary="What became of a change",
    description="Of the caller's own changes, for an hour. Needs the scope `twins:write`.",
)
async def get_transaction(
    services: ServicesOfApp,
    caller: Annotated[Caller, Depends(allowed(Scope.TWINS_WRITE))],
    transaction: Name,
) -> Transaction:
    return services.twins.transactions.get(transaction, caller.party)


def live(services: Services, caller: Caller, question: Question) -> EventStream:
    """A stream of the objects that are meant, as long as the caller may see them."""
    watchers = services.twins.watchers
    return EventStream(watchers.events(question, caller.party, lambda: caller.may_still(services)))


def json_response(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """JSON that is ready as bytes."""
    return Response(body, status, headers, media_type="application/json")


async def _lines(services: Services, caller: Caller, question: Question) -> AsyncIterator[bytes]:
    missing: set[int] = set()
    async for some in services.twins.view.lines(question, caller.party, missing):
        yield some
    yield orjson.dumps({"missing_partitions": sorted(missing)}) + b"\n"


def _page(found: list[Any], is_more: bool, missing: list[int]) -> Response:
    following = encode_place(found[-1][0]) if is_more else None
    rest = orjson.dumps({"next": following, "missing_partitions": missing})
    return json_response(b'{"items":[' + b",".join(body for _, body in found) + b"]," + rest[1:])
