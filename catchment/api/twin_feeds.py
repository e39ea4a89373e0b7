"""Feeds of twins: which streams and measurements their changes come from."""

from fastapi import APIRouter, Response, status
from pydantic import BaseModel

from catchment.api.declared import (
    CHANGED,
    LISTED,
    PLACE,
    READ,
    SHOWN,
    WRITE,
    Id,
    IfMatch,
    OfSite,
    OnlySite,
    place_of,
    tag,
)
from catchment.api.paging import Cursor, Limit, Next, page_of
from catchment.api.services import ServicesOfApp
from catchment.twins.model import TwinFeed, TwinFeedSpec

router = APIRouter(prefix="/api/v1/twin-feeds", tags=["twins"])


class TwinFeedPage(BaseModel):
    """Some feeds of twins, and where the next ones begin."""

    items: list[TwinFeed]
    next: Next


@router.get("", dependencies=READ, responses=LISTED, summary="All feeds of twins, sorted by site and id")
def list_twin_feeds(
    services: ServicesOfApp, site: OnlySite = None, limit: Limit = 100, cursor: Cursor = None
) -> TwinFeedPage:
    found = services.twin_declarations.feeds.all(site)
    items, following = page_of(found, place_of, PLACE, limit, cursor)
    return TwinFeedPage(items=items, next=following)


@router.get("/{identifier}", dependencies=READ, responses=SHOWN, summary="One feed of twins")
def get_twin_feed(
    services: ServicesOfApp, response: Response, identifier: Id, site: OfSite = None
) -> TwinFeed:
    found = services.twin_declarations.feeds.get(identifier, site)
    tag(response, found.version)
    return found


@router.put(
    "/{identifier}",
    dependencies=WRITE,
    responses=CHANGED,
    summary="Declare or change a feed of twins of this site",
)
def put_twin_feed(
    services: ServicesOfApp, response: Response, identifier: Id, spec: TwinFeedSpec, expected: IfMatch
) -> TwinFeed:
    written = services.twin_declarations.put_feed(identifier, spec, expected)
    tag(response, written.version)
    return written


@router.delete(
    "/{identifier}",
    dependencies=WRITE,
    responses=CHANGED,
    status_code=status.HTTP_204_NO_CONTENT,
    summary="Delete a feed of twins of this site",
)
def delete_twin_feed(services: ServicesOfApp, identifier: Id, expected: IfMatch) -> None:
    services.twin_declarations.feeds.delete(identifier, expected)
