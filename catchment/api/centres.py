"""At a site: the centres that may relay from it."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Path
from pydantic import AfterValidator, BaseModel, Field, SecretStr, StringConstraints

from catchment.api.access import allowed
from catchment.api.handed_out import HandedOut, authority_of
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.client.joining import join_centre
from catchment.config.section import Name
from catchment.kafka.identities import bootstrap_servers
from catchment.kafka.rights import apply_rights
from catchment.security.centres import Centres
from catchment.security.tokens import Scope

router = APIRouter(prefix="/api/v1/centres", tags=["sites"])


def _checked(url: str) -> str:
    """Refuses what the pattern lets pass: ports and addresses that there cannot be."""
    if urlsplit(url).port == 0:
        raise ValueError("there is no port 0")
    return url


_CHANGE = [Depends(allowed(Scope.SITES_WRITE))]
_Url = Annotated[
    str,
    StringConstraints(pattern=r"^https://([A-Za-z0-9.-]{1,250}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?/?$"),
    AfterValidator(_checked),
]
_Name = Annotated[Name, Path(description="The centre's name.")]


class Centre(BaseModel):
    """A centre that may relay from here."""

    name: str


class CentreList(BaseModel):
    """All centres, sorted by name."""

    items: list[Centre]


class InvitedCentre(Centre):
    """What a centre needs to relay from here."""

    site: str = Field(description="The name of this site.")
    bootstrap_servers: str = Field(description="Where its Kafka is.")
    granted: bool = Field(description="Whether Kafka knows of it already; else from its next start on.")
    identity: HandedOut


class CentreInvitation(BaseModel):
    """What the centre's invitation says."""

    url: _Url = Field(description="The API of the centre.")
    token: SecretStr = Field(max_length=500, description="The one-time token.")
    fingerprint: str = Field(
        pattern=r"^[0-9A-Fa-f]{64}$", description="SHA-256 of the certificate that the centre shows."
    )

    model_config = {
        "json_schema_extra": {
            "examples": [
                {"url": "https://centre.example:8443", "token": "cti.oslo.…", "fingerprint": "5f0c" * 16}
            ]
        }
    }


class JoinedCentre(Centre):
    """A centre that relays from here now."""

    granted: bool = Field(description="Whether Kafka knows of it already; else from its next start on.")


@router.get(
    "",
    dependencies=[Depends(allowed(Scope.STATUS_READ))],
    responses=answers(401, 403),
    summary="Centres that may relay from this site",
    description="Needs the scope `status:read`.",
)
def list_centres(services: ServicesOfApp) -> CentreList:
    return CentreList(items=[Centre(name=name) for name in Centres(services.config.paths.centres).names()])


@router.put(
    "/{name}",
    dependencies=_CHANGE,
    status_code=201,
    responses=answers(401, 403, 409, 422),
    summary="Let a centre relay from this site",
    description="What it answers is to be sent to `PUT /api/v1/sites/{name}` of the centre. Certificates "
    "that it has count on. Needs the scope `sites:write`.",
)
def put_centre(name: _Name, services: ServicesOfApp) -> InvitedCentre:
    config = services.config
    credentials = Centres(config.paths.centres).hand_out(name, authority_of(config))
    return InvitedCentre(
        name=name,
        site=config.site,
        bootstrap_servers=bootstrap_servers(config),
        granted=apply_rights(config),
        identity=HandedOut.of(credentials),
    )


@router.post(
    "/{name}/join",
    dependencies=_CHANGE,
    responses=answers(401, 403, 409, 422, 503),
    summary="Join a centre that has invited this site",
    description="What `catchment site join` does: the centre is told where this site is, and gets an "
    "identity to read with. Needs the scope `sites:write`.",
)
def accept_invitation(name: _Name, invitation: CentreInvitation, services: ServicesOfApp) -> JoinedCentre:
    config = services.config
    credentials = Centres(config.paths.centres).hand_out(name, authority_of(config))
    granted = apply_rights(config)
    secret = invitation.token.get_secret_value()
    join_centre(config, invitation.url, secret, invitation.fingerprint, credentials)
    return JoinedCentre(name=name, granted=granted)


@router.delete(
    "/{name}",
    dependencies=_CHANGE,
    status_code=204,
    responses=answers(401, 403, 404, 422),
    summary="Take the right to relay from a centre, for good",
    description="Its name cannot be invited again. Needs the scope `sites:write`.",
)
def delete_centre(name: _Name, services: ServicesOfApp) -> None:
    Centres(services.config.paths.centres).withdraw(name, authority_of(services.config))
    apply_rights(services.config)
