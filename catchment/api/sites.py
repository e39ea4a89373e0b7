"""The sites that a centre gathers from: their state, and how they come and go."""

import datetime
import tempfile
from pathlib import Path as FilePath
from typing import Annotated

from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel, Field, JsonValue, SecretStr

from catchment.api.access import allowed
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.config import Config
from catchment.config.section import Name
from catchment.errors import InvalidRequest
from catchment.node.status import console_address
from catchment.relay.model import SiteState
from catchment.relay.register import IdentityFiles, Sites
from catchment.relay.states import site_states
from catchment.security.authority import Identity
from catchment.security.certificates import certificates
from catchment.security.files import write_private
from catchment.security.invitations import Invitations
from catchment.security.tokens import Scope

router = APIRouter(prefix="/api/v1/sites", tags=["sites"])

_CHANGE = [Depends(allowed(Scope.SITES_WRITE))]
_Name = Annotated[Name, Path(description="The site's name.")]
_Pem = Annotated[str, Field(max_length=10_000)]
_ADDRESSES = r"^[A-Za-z0-9.\-\[\]:]{1,250}:[0-9]{1,5}(,[A-Za-z0-9.\-\[\]:]{1,250}:[0-9]{1,5}){0,9}$"


_SITE: dict[str, JsonValue] = {
    "bootstrap_servers": "oslo.example:9092",
    "ca": "-----BEGIN CERTIFICATE-----…",
    "certificate": "-----BEGIN CERTIFICATE-----…",
    "key": "-----BEGIN PRIVATE KEY-----…",
}


class SiteList(BaseModel):
    """Every registered site."""

    items: list[SiteState]


class InvitationSpec(BaseModel):
    """How long an invitation counts."""

    hours: int = Field(24, ge=1, le=168, description="It expires after so many hours.")

    model_config = {"json_schema_extra": {"examples": [{"hours": 24}]}}


class NewInvitation(BaseModel):
    """What to run at the site; told this once."""

    site: str
    command: str = Field(description="Joins the site to this centre, once.")
    expires_at: datetime.datetime


class SiteSpec(BaseModel):
    """Where the Kafka of a site is, and the identity that the centre reads with."""

    bootstrap_servers: str = Field(pattern=_ADDRESSES, description="Where the site's Kafka is.")
    ca: _Pem = Field(description="The authority of the site, in PEM.")
    certificate: _Pem = Field(description="What the centre shows to the site, in PEM.")
    key: SecretStr = Field(max_length=10_000, description="The key of that certificate, in PEM.")

    model_config = {"json_schema_extra": {"examples": [_SITE]}}


class Joining(SiteSpec):
    """What a site says that joins."""

    token: SecretStr = Field(max_length=500, description="The token of the invitation.")
    site: Name = Field(description="The name that the site gives itself.")

    model_config = {"json_schema_extra": {"examples": [{"token": "cti.oslo.…", "site": "oslo", **_SITE}]}}


@router.get(
    "",
    dependencies=[Depends(allowed(Scope.STATUS_READ))],
    responses=answers(401, 403),
    summary="Sites of the centre",
    description="State, lag and incidents of each site's relay. Needs the scope `status:read`.",
)
def sites(services: ServicesOfApp) -> SiteList:
    return SiteList(items=site_states(services.config))


@router.post(
    "/join",
    status_code=204,
    responses=answers(401, 422),
    # Whoever has an invitation.
    openapi_extra={"security": [{}]},
    summary="Join this centre as a site",
    description="What `catchment site join` sends. The token of the invitation counts once.",
)
def join_centre(request: Request, joining: Joining, services: ServicesOfApp) -> None:
    _check_identity(joining)
    site = Invitations(services.config.paths.invitations).redeem(joining.token.get_secret_value())
    request.state.who = f"site/{site}"
    if site != joining.site:
        raise InvalidRequest(
            f"The invitation is for {site!r}, and this is {joining.site!r}",
            f"Set `site: {site}` in the site's configuration, or ask for an invitation for {joining.site}.",
        )
    _register(services.config, site, joining)


@router.put(
    "/{name}",
    dependencies=_CHANGE,
    status_code=204,
    responses=answers(401, 403, 422),
    summary="Relay from a site, or give it another address or identity",
    description="With what `PUT /api/v1/centres/{name}` of the site answered. Needs the scope `sites:write`.",
)
def put_site(name: _Name, spec: SiteSpec, services: ServicesOfApp) -> None:
    _check_identity(spec)
    _register(services.config, name, spec)


@router.post(
    "/{name}/invitation",
    dependencies=_CHANGE,
    status_code=201,
    responses=answers(401, 403, 422),
    summary="Invite a site",
    description="Makes a one-time token, and the one command to run at the site. Needs the scope "
    "`sites:write`.",
)
def invite_site(name: _Name, spec: InvitationSpec, services: ServicesOfApp) -> NewInvitation:
    config = services.config
    lifetime = datetime.timedelta(hours=spec.hours)
    token, expires_at = Invitations(config.paths.invitations).make(name, lifetime)
    shown = next(each for each in certificates(config.paths.identities, FilePath()) if each.name == "api")
    command = (
        f"catchment site join {_address(config)} --centre {config.site} "
        f"--token {token} --fingerprint {shown.fingerprint}"
    )
    return NewInvitation(site=name, command=command, expires_at=expires_at)


@router.put(
    "/{name}/pause",
    dependencies=_CHANGE,
    status_code=204,
    responses=answers(401, 403, 404, 422),
    summary="Hold the relay of a site",
    description="Its records wait at the site. Needs the scope `sites:write`.",
)
def pause_site(name: _Name, services: ServicesOfApp) -> None:
    Sites(services.config.paths.sites).pause(name, True)


@router.put(
    "/{name}/resume",
    dependencies=_CHANGE,
    status_code=204,
    responses=answers(401, 403, 404, 422),
    summary="Let the relay of a site go on",
    description="It goes on where it was. Needs the scope `sites:write`.",
)
def resume_site(name: _Name, services: ServicesOfApp) -> None:
    Sites(services.config.paths.sites).pause(name, False)


@router.delete(
    "/{name}",
    dependencies=_CHANGE,
    status_code=204,
    responses=answers(401, 403, 404, 422),
    summary="Relay from a site no more",
    description="What was relayed stays. Needs the scope `sites:write`.",
)
def delete_site(name: _Name, services: ServicesOfApp) -> None:
    Sites(services.config.paths.sites).remove(name)


def _address(config: Config) -> str:
    """Where other machines find this one, if that was said."""
    return f"https://{config.hostnames[0]}:{config.api.port}" if config.hostnames else console_address(config)


def _check_identity(spec: SiteSpec) -> None:
    try:
        for pem in (spec.ca, spec.certificate):
            x509.load_pem_x509_certificate(pem.encode())
        load_pem_private_key(spec.key.get_secret_value().encode(), password=None)
    except (ValueError, TypeError):
        raise InvalidRequest(
            "The identity is not in PEM", "Send it as the site gave it, or use `catchment site join` there."
        ) from None


def _register(config: Config, name: str, spec: SiteSpec) -> None:
    with tempfile.TemporaryDirectory(dir=config.data_dir) as directory:
        files: Identity = IdentityFiles(FilePath(directory)).identity
        write_private(files.ca_file, spec.ca.encode())
        write_private(files.certificate_file, spec.certificate.encode())
        write_private(files.key_file, spec.key.get_secret_value().encode())
        Sites(config.paths.sites).add(name, spec.bootstrap_servers, files)
