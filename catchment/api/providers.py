"""Who may send data to the gateway."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, Field

from catchment.api.access import allowed
from catchment.api.handed_out import HandedOut, authority_of
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.config.section import Name
from catchment.security.providers import Providers
from catchment.security.tokens import Scope

router = APIRouter(prefix="/api/v1/providers", tags=["parties"])

_CHANGE = [Depends(allowed(Scope.PARTIES_WRITE))]
_Name = Annotated[Name, Path(description="The provider's name.")]


class Provider(BaseModel):
    """A device, or a group of them, that may send."""

    name: str


class ProviderList(BaseModel):
    """All providers, sorted by name."""

    items: list[Provider]


class NewProvider(Provider):
    """A provider that was registered now."""

    host: str = Field(description="Where the gateway listens for it.")
    port: int
    identity: HandedOut


@router.get(
    "",
    dependencies=[Depends(allowed(Scope.STATUS_READ))],
    responses=answers(401, 403),
    summary="Who may send data",
    description="Needs the scope `status:read`.",
)
def list_providers(services: ServicesOfApp) -> ProviderList:
    names = Providers(services.config.paths.providers).names()
    return ProviderList(items=[Provider(name=name) for name in names])


@router.put(
    "/{name}",
    dependencies=_CHANGE,
    status_code=201,
    responses=answers(401, 403, 422),
    summary="Let a provider send data",
    description="Of one that is there, the certificate that it has stops counting. Needs the scope "
    "`parties:write`.",
)
def put_provider(name: _Name, services: ServicesOfApp) -> NewProvider:
    config = services.config
    credentials = Providers(config.paths.providers).hand_out(name, authority_of(config))
    host = config.hostnames[0] if config.hostnames else config.gateway.host
    return NewProvider(name=name, host=host, port=config.gateway.port, identity=HandedOut.of(credentials))


@router.delete(
    "/{name}",
    dependencies=_CHANGE,
    status_code=204,
    responses=answers(401, 403, 404, 422),
    summary="Refuse a provider from now on",
    description="Needs the scope `parties:write`.",
)
def delete_provider(name: _Name, services: ServicesOfApp) -> None:
    Providers(services.config.paths.providers).remove(name, authority_of(services.config))
