"""Mappings: how messages of devices become measurements."""

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
from catchment.registry.model import Mapping, MappingSpec

router = APIRouter(prefix="/api/v1/mappings", tags=["registry"])


class MappingPage(BaseModel):
    """Some mappings, and where the next ones begin."""

    items: list[Mapping]
    next: Next


@router.get("", dependencies=READ, responses=LISTED, summary="All mappings, sorted by site and id")
def list_mappings(
    services: ServicesOfApp, site: OnlySite = None, limit: Limit = 100, cursor: Cursor = None
) -> MappingPage:
    found = services.registry.mappings.all(site)
    items, following = page_of(found, place_of, PLACE, limit, cursor)
    return MappingPage(items=items, next=following)


@router.get("/{identifier}", dependencies=READ, responses=SHOWN, summary="One mapping")
def get_mapping(services: ServicesOfApp, response: Response, identifier: Id, site: OfSite = None) -> Mapping:
    found = services.registry.mappings.get(identifier, site)
    tag(response, found.version)
    return found


@router.put(
    "/{identifier}", dependencies=WRITE, responses=CHANGED, summary="Declare or change a mapping of this site"
)
def put_mapping(
    services: ServicesOfApp, response: Response, identifier: Id, spec: MappingSpec, expected: IfMatch
) -> Mapping:
    written = services.registry.put_mapping(identifier, spec, expected)
    tag(response, written.version)
    return written


@router.delete(
    "/{identifier}",
    dependencies=WRITE,
    responses=CHANGED,
    status_code=status.HTTP_204_NO_CONTENT,
    summary="Delete a mapping of this site",
)
def delete_mapping(services: ServicesOfApp, identifier: Id, expected: IfMatch) -> None:
    services.registry.mappings.delete(identifier, expected)
