"""Alerts, open and past, and who was told of them."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, TypeAdapter

from catchment.alerts.model import AlertState
from catchment.alerts.view import AlertDetail, AlertSummary
from catchment.api.access import allowed
from catchment.api.paging import Cursor, Limit, Next, page_of
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.errors import NotFound
from catchment.security.tokens import Scope

router = APIRouter(tags=["alerts"])

_Place = tuple[int, str]
_PLACE: TypeAdapter[_Place] = TypeAdapter(_Place)


class AlertPage(BaseModel):
    """Some alerts, and where the next ones begin."""

    items: list[AlertSummary]
    next: Next


@router.get(
    "/api/v1/alerts",
    dependencies=[Depends(allowed(Scope.ALERTS_READ))],
    responses=answers(401, 403, 422),
    summary="Alerts, open and past",
    description="Newest first: every open one, and the newest ten thousand past ones. Needs the scope "
    "`alerts:read`.",
)
def alerts(
    services: ServicesOfApp,
    state: Annotated[
        AlertState | None,
        Query(description="`raised`: those that are open; `cleared`: those that are over; `told`: notices."),
    ] = None,
    node: Annotated[str | None, Query(description="Of rules of this node.")] = None,
    site: Annotated[str | None, Query(description="Of sensors of this site.")] = None,
    sensor: Annotated[str | None, Query(description="Of the sensor with this id.")] = None,
    rule: Annotated[str | None, Query(description="Of the rule with this id.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> AlertPage:
    wanted = {"state": state, "node": node, "site": site, "sensor": sensor, "rule": rule}
    given = {name: value for name, value in wanted.items() if value is not None}
    chosen = [
        alert
        for alert in services.alerts.all()
        if all(getattr(alert, name) == value for name, value in given.items())
    ]
    items, following = page_of(chosen, _place, _PLACE, limit, cursor)
    return AlertPage(items=items, next=following)


@router.get(
    "/api/v1/alerts/{alert:path}",
    dependencies=[Depends(allowed(Scope.ALERTS_READ))],
    responses=answers(401, 403, 404, 422),
    summary="One alert, and each attempt to tell of it",
    description="Needs the scope `alerts:read`.",
)
def alert(
    services: ServicesOfApp,
    alert: Annotated[str, Path(description="The alert's id: node/site/sensor/rule/first_ms.")],
) -> AlertDetail:
    found = services.alerts.find(alert)
    if found is None:
        raise NotFound(f"There is no alert {alert!r}", "`catchment alerts list` shows those there are.")
    return found


def _place(alert: AlertSummary) -> _Place:
    """Newest first, whatever happens to an alert later."""
    return -alert.first_ms, alert.id
