"""Compatibility levels, checks against them, and the mode, which cannot be changed."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict

from catchment.api.schema_access import READ, WRITE
from catchment.api.schema_versions import OfferedSchema
from catchment.api.services import ServicesOfApp
from catchment.errors import SchemaRefused
from catchment.schemas.compatibility import Level
from catchment.schemas.registry import read_version
from catchment.schemas.subjects import read_subject

router = APIRouter()

OrGlobal = Annotated[bool, Query(alias="defaultToGlobal", description="Else that of all subjects.")]
Verbose = Annotated[bool, Query(description="Also say why not.")]


class OfferedLevel(BaseModel):
    """A level as clients send it."""

    model_config = ConfigDict(extra="ignore")

    compatibility: str

    def level(self) -> Level:
        try:
            return Level(self.compatibility)
        except ValueError:
            raise SchemaRefused(
                f"{self.compatibility!r} is no compatibility level", f"Use one of {', '.join(Level)}.", 42203
            ) from None


@router.get("/config", dependencies=READ)
def level(services: ServicesOfApp) -> dict[str, Any]:
    return {"compatibilityLevel": services.schemas.effective_level()}


@router.put("/config", dependencies=WRITE)
def set_level(services: ServicesOfApp, offered: OfferedLevel) -> dict[str, Any]:
    services.schemas.set_level(offered.level())
    return {"compatibility": offered.level()}


@router.delete("/config", dependencies=WRITE)
def reset_level(services: ServicesOfApp) -> dict[str, Any]:
    before = services.schemas.effective_level()
    services.schemas.set_level(None)
    return {"compatibilityLevel": before}


@router.get("/config/{subject}", dependencies=READ)
def level_of(services: ServicesOfApp, subject: str, or_global: OrGlobal = False) -> dict[str, Any]:
    if or_global:
        return {"compatibilityLevel": services.schemas.effective_level(subject)}
    return {"compatibilityLevel": _own_level(services, subject)}


@router.put("/config/{subject}", dependencies=WRITE)
def set_level_of(services: ServicesOfApp, subject: str, offered: OfferedLevel) -> dict[str, Any]:
    services.schemas.set_level(offered.level(), subject)
    return {"compatibility": offered.level()}


@router.delete("/config/{subject}", dependencies=WRITE)
def reset_level_of(services: ServicesOfApp, subject: str) -> dict[str, Any]:
    before = _own_level(services, subject)
    services.schemas.set_level(None, subject)
    return {"compatibilityLevel": before}


@router.post("/compatibility/subjects/{subject}/versions/{version}", dependencies=READ)
def check_against(
    services: ServicesOfApp, subject: str, version: str, offered: OfferedSchema, verbose: Verbose = False
) -> dict[str, Any]:
    number = services.schemas.version(subject, read_version(version)).version
    return _judgement(services.schemas.objections(subject, offered.avro(), number), verbose)


@router.post("/compatibility/subjects/{subject}/versions", dependencies=READ)
def check(
    services: ServicesOfApp, subject: str, offered: OfferedSchema, verbose: Verbose = False
) -> dict[str, Any]:
    return _judgement(services.schemas.objections(subject, offered.avro()), verbose)


@router.get("/mode", dependencies=READ)
def mode() -> dict[str, Any]:
    return {"mode": "READWRITE"}


@router.get("/mode/{subject}", dependencies=READ)
def mode_of(services: ServicesOfApp, subject: str) -> dict[str, Any]:
    own = read_subject(subject, services.config.site).site == services.config.site
    return {"mode": "READWRITE" if own else "READONLY"}


@router.put("/mode", dependencies=WRITE)
@router.put("/mode/{subject}", dependencies=WRITE)
@router.delete("/mode/{subject}", dependencies=WRITE)
def refuse_mode() -> None:
    raise SchemaRefused(
        "The mode cannot be changed", "A site's own subjects can be written, relayed ones cannot.", 42205
    )


def _own_level(services: ServicesOfApp, subject: str) -> Level:
    found = services.schemas.level(subject)
    if found is None:
        raise SchemaRefused(f"{subject} has no level of its own", "Ask with defaultToGlobal=true.", 40408)
    return found


def _judgement(objections: list[str], verbose: bool) -> dict[str, Any]:
    return {"is_compatible": not objections, **({"messages": objections} if verbose else {})}
