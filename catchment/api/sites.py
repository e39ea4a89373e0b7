"""The sites that a centre gathers from."""

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from catchment.api.access import allowed
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.relay.model import SiteState
from catchment.relay.states import site_states
from catchment.security.tokens import Scope

router = APIRouter(tags=["sites"])


class SiteList(BaseModel):
    """Every registered site."""

    items: list[SiteState]


@router.get(
    "/api/v1/sites",
    dependencies=[Depends(allowed(Scope.STATUS_READ))],
    responses=answers(401, 403),
    summary="Sites of the centre",
    description="State, lag and incidents of each site's relay. Needs the scope `status:read`.",
)
def sites(services: ServicesOfApp) -> SiteList:
    return SiteList(items=site_states(services.config))
