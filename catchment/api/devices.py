"""Devices: what sensors belong to."""

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
from catchment.registry.model import Device, DeviceSpec

router = APIRouter(prefix="/api/v1/devices", tags=["registry"])


class DevicePage(BaseModel):
    """Some devices, and where the next ones begin."""

    items: list[Device]
    next: Next


@router.get("", dependencies=READ, responses=LISTED, summary="All devices, sorted by site and id")
def list_devices(
    services: ServicesOfApp, site: OnlySite = None, limit: Limit = 100, cursor: Cursor = None
) -> DevicePage:
    found = services.registry.devices.all(site)
    items, following = page_of(found, place_of, PLACE, limit, cursor)
    return DevicePage(items=items, next=following)


@router.get("/{identifier}", dependencies=READ, responses=SHOWN, summary="One device")
def get_device(services: ServicesOfApp, response: Response, identifier: Id, site: OfSite = None) -> Device:
    found = services.registry.devices.get(identifier, site)
    tag(response, found.version)
    return found


@router.put(
    "/{identifier}", dependencies=WRITE, responses=CHANGED, summary="Register or change a device of this site"
)
def put_device(
    services: ServicesOfApp, response: Response, identifier: Id, spec: DeviceSpec, expected: IfMatch
) -> Device:
    written = services.registry.devices.put(identifier, spec, expected)
    tag(response, written.version)
    return written


@router.delete(
    "/{identifier}",
    dependencies=WRITE,
    responses=CHANGED,
    status_code=status.HTTP_204_NO_CONTENT,
    summary="Delete a device of this site",
)
def delete_device(services: ServicesOfApp, identifier: Id, expected: IfMatch) -> None:
    services.registry.delete_device(identifier, expected)
