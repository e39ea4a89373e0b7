"""Sensors: those that were registered, and those that were only seen and wait to be confirmed."""

from typing import Annotated

from fastapi import APIRouter, Query, Response, status
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
from catchment.registry.model import Confirmation, KnownSensor, Sensor, SensorSpec

router = APIRouter(prefix="/api/v1/sensors", tags=["registry"])


class SensorPage(BaseModel):
    """Some sensors, and where the next ones begin."""

    items: list[KnownSensor]
    next: Next


@router.get("", dependencies=READ, responses=LISTED, summary="All sensors, sorted by site and id")
def list_sensors(
    services: ServicesOfApp,
    site: OnlySite = None,
    registered: Annotated[bool | None, Query(description="Only those that are, or are not.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> SensorPage:
    found = [
        sensor for sensor in services.registry.known_sensors(site) if registered in (None, sensor.registered)
    ]
    items, following = page_of(found, place_of, PLACE, limit, cursor)
    return SensorPage(items=items, next=following)


@router.get("/{identifier}", dependencies=READ, responses=SHOWN, summary="One sensor")
def get_sensor(
    services: ServicesOfApp, response: Response, identifier: Id, site: OfSite = None
) -> KnownSensor:
    found = services.registry.known_sensor(identifier, site)
    tag(response, found.version)
    return found


@router.put("/{identifier}", dependencies=WRITE, responses=CHANGED, summary="Register or change a sensor")
def put_sensor(
    services: ServicesOfApp, response: Response, identifier: Id, spec: SensorSpec, expected: IfMatch
) -> Sensor:
    written = services.registry.put_sensor(identifier, spec, expected)
    tag(response, written.version)
    return written


@router.post(
    "/{identifier}/confirm",
    dependencies=WRITE,
    responses=CHANGED,
    summary="Register a sensor that was seen",
)
def confirm_sensor(
    services: ServicesOfApp, response: Response, identifier: Id, given: Confirmation
) -> Sensor:
    written = services.registry.confirm(identifier, given)
    tag(response, written.version)
    return written


@router.delete(
    "/{identifier}",
    dependencies=WRITE,
    responses=CHANGED,
    status_code=status.HTTP_204_NO_CONTENT,
    summary="Delete a sensor of this site",
)
def delete_sensor(services: ServicesOfApp, identifier: Id, expected: IfMatch) -> None:
    services.registry.sensors.delete(identifier, expected)
