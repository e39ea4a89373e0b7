"""Where alerts are sent to, and whether that works."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, Field

from catchment.alerts.channels import Undelivered, open_channel
from catchment.alerts.courier import trial_letter
from catchment.api.access import allowed
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.config.section import Name
from catchment.errors import NotFound
from catchment.security.tokens import Scope

router = APIRouter(prefix="/api/v1/channels", tags=["alerts"])

_Name = Annotated[Name, Path(description="The channel's name.")]


class ChannelSummary(BaseModel):
    """A channel, without its address and its secrets."""

    name: str
    kind: str = Field(description="`telegram`, `mail`, `webhook` or `apprise`.")


class ChannelList(BaseModel):
    """All channels of the configuration, sorted by name."""

    items: list[ChannelSummary]


class ChannelTested(BaseModel):
    """Whether a test message went through."""

    name: str
    delivered: bool
    error: str | None = Field(description="Why not.")


@router.get(
    "",
    dependencies=[Depends(allowed(Scope.RULES_READ))],
    responses=answers(401, 403),
    summary="Where alerts are sent to",
    description="Needs the scope `rules:read`.",
)
def list_channels(services: ServicesOfApp) -> ChannelList:
    channels = sorted(services.config.alerts.channels.items())
    return ChannelList(items=[ChannelSummary(name=name, kind=each.kind) for name, each in channels])


@router.post(
    "/{name}/test",
    dependencies=[Depends(allowed(Scope.RULES_WRITE))],
    responses=answers(401, 403, 404, 422),
    summary="Send a test message on a channel",
    description="What `catchment alerts test` does. Needs the scope `rules:write`.",
)
def test_channel(name: _Name, services: ServicesOfApp) -> ChannelTested:
    config = services.config
    settings = config.alerts.channels.get(name)
    if settings is None:
        known = ", ".join(config.alerts.channels) or "none so far"
        raise NotFound(f"There is no channel {name!r}", f"Set it below alerts.channels; there are: {known}.")
    sender = open_channel(settings, config.alerts.timeout_s)
    try:
        sender.send(trial_letter(config.site, name))
    except Undelivered as error:
        return ChannelTested(name=name, delivered=False, error=str(error))
    finally:
        sender.close()
    return ChannelTested(name=name, delivered=True, error=None)
