"""Types of twins: what objects are like, and who may do what with them."""

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
from catchment.twins.model import TwinType, TwinTypeSpec

router = APIRouter(prefix="/api/v1/twin-types", tags=["twins"])


class TwinTypePage(BaseModel):
    """Some types of twins, and where the next ones begin."""

    items: list[TwinType]
    next: Next


@router.get("", dependencies=READ, responses=LISTED, summary="All types of twins, sorted by site and id")
def list_twin_types(
    services: ServicesOfApp, site: OnlySite = None, limit: Limit = 100, cursor: Cursor = None
) -> TwinTypePage:
    found = services.twin_declarations.types.all(site)
    items, following = page_of(found, place_of, PLACE, limit, cursor)
    return TwinTypePage(items=items, next=following)


@router.get("/{identifier}", dependencies=READ, responses=SHOWN, summary="One type of twins")
def get_twin_type(
    services: ServicesOfApp, response: Response, identifier: Id, site: OfSite = None
) -> TwinType:
    found = services.twin_declarations.types.get(identifier, site)
    tag(response, found.version)
    return found


@router.put(
    "/{identifier}",
    dependencies=WRITE,
    responses=CHANGED,
    summary="Declare or change a type of twins of this site",
)
def put_twin_type(
    services: ServicesOfApp, response: Response, identifier: Id, spec: TwinTypeSpec, expected: IfMatch
) -> TwinType:
    written = services.twin_declarations.put_type(identifier, spec, expected)
    tag(response, written.version)
    return written


@router.delete(
    "/{identifier}",
    dependencies=WRITE,
    responses=CHANGED,
    status_code=status.HTTP_204_NO_CONTENT,
    summary="Delete a type of twins of this site",
    description="Its objects stay, and can be deleted by those that made them.",
)
def delete_twin_type(services: ServicesOfApp, identifier: Id, expected: IfMatch) -> None:
    services.twin_declarations.delete_type(identifier, expected)
