"""What the addresses of all declarations share: versions as entity tags, sites, pages."""

import re
from typing import Annotated

from fastapi import Depends, Header, Path, Query, Response
from pydantic import TypeAdapter

from catchment.api.access import allowed
from catchment.api.problems import answers
from catchment.config.section import Name
from catchment.errors import VersionChanged
from catchment.registry.model import Declared, KnownSensor
from catchment.registry.shelf import ANYTHING, Expected
from catchment.security.tokens import Scope

READ = [Depends(allowed(Scope.REGISTRY_READ))]
WRITE = [Depends(allowed(Scope.REGISTRY_WRITE))]
LISTED = answers(401, 403, 422, 503)
SHOWN = answers(401, 403, 404, 422, 503)
CHANGED = answers(401, 403, 404, 409, 412, 422, 503)

Id = Annotated[Name, Path(description="Its id, unique in its site.")]
OfSite = Annotated[Name | None, Query(description="The site; by default this node's own.")]
OnlySite = Annotated[Name | None, Query(description="Only those of this site.")]

_Place = tuple[str, str]
PLACE = TypeAdapter(_Place)
_ENTITY_TAG = re.compile(r'(?:W/)?"(\d{1,18})"')


def place_of(thing: Declared | KnownSensor) -> _Place:
    """Where something stands in a list."""
    return thing.site, thing.id


def tag(response: Response, version: int | None) -> None:
    """Tells the version, for a later If-Match."""
    if version is not None:
        response.headers["ETag"] = f'"{version}"'


def _expected(
    if_match: Annotated[str | None, Header(description="Change only this version.")] = None,
    if_none_match: Annotated[str | None, Header(description="`*`: only if there is none.")] = None,
) -> Expected:
    if if_none_match == "*":
        return Expected(absent=True)
    if if_match is None:
        return ANYTHING
    match = _ENTITY_TAG.fullmatch(if_match)
    if match is None or int(match[1]) == 0:
        raise VersionChanged(f"If-Match: {if_match} names no version", "Send the ETag as it came.")
    return Expected(int(match[1]))


IfMatch = Annotated[Expected, Depends(_expected)]
