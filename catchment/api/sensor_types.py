"""Sensor types: what sensors of one kind measure, and the subject of their measurements."""

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
from catchment.registry.model import SensorType, SensorTypeSpec

router = APIRouter(prefix="/api/v1/sensor-types", tags=["registry"])


class SensorTypePage(BaseModel):
    """Some sensor types, and where the next ones begin."""

    items: list[SensorType]
    next: Next


@router.get("", dependencies=READ, responses=LISTED, summary="All sensor types, sorted by site and id")
def list_sensor_types(
    services: ServicesOfApp, site: OnlySite = None, limit: Limit = 100, cursor: Cursor = None
) -> SensorTypePage:
    found = services.registry.sensor_types.all(site)
    items, following = page_of(found, place_of, PLACE, limit, cursor)
    return SensorTypePage(items=items, next=following)


@router.get("/{identifier}", dependencies=READ, responses=SHOWN, summary="One sensor type")
def get_sensor_type(
    services: ServicesOfApp, response: Response, identifier: Id, site: OfSite = None
) -> SensorType:
    found = services.registry.sensor_types.get(identifier, site)
    tag(response, found.version)
    return found


@router.put(
    "/{identifier}",
    dependencies=WRITE,
    responses=CHANGED,
    summary="Register or change a sensor type of this site",
)
def put_sensor_type(
    services: ServicesOfApp, response: Response, identifier: Id, spec: SensorTypeSpec, expected: IfMatch
) -> SensorType:
    written = services.registry.put_sensor_type(identifier, spec, expected)
    tag(response, written.version)
    return written


@router.delete(
    "/{identifier}",
    dependencies=WRITE,
    responses=CHANGED,
    status_code=status.HTTP_204_NO_CONTENT,
    summary="Delete a sensor type of this site",
)
def delete_sensor_type(services: ServicesOfApp, identifier: Id, expected: IfMatch) -> None:
    services.registry.delete_sensor_type(identifier, expected)
