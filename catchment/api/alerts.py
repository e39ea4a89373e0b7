"""Alerts, open and past, and who was told of them."""

from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, Field, TypeAdapter

from catchment.alerts.acknowledged import Acknowledgements
from catchment.alerts.model import AlertState
from catchment.alerts.view import AlertBook, AlertDetail, AlertSummary
from catchment.api.access import Caller, allowed
from catchment.api.events import AlertCounts
from catchment.api.paging import Cursor, Limit, Next, page_of
from catchment.api.problems import answers
from catchment.api.services import Services, ServicesOfApp
from catchment.errors import NotFound
from catchment.security.tokens import Scope

router = APIRouter(tags=["alerts"])

_Place = tuple[int, str]
_PLACE: TypeAdapter[_Place] = TypeAdapter(_Place)


_AlertId = Annotated[str, Path(description="The alert's id: node/site/sensor/rule/first_ms.")]
AnyAlert = TypeVar("AnyAlert", bound=AlertSummary)


class Noted(BaseModel):
    """What somebody says who takes note of an alert."""

    note: str = Field("", max_length=1000, description="Such as what is done about it.")

    model_config = {"json_schema_extra": {"examples": [{"note": "A technician is on the way."}]}}


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
    return AlertPage(items=[noted(each, services.acknowledgements) for each in items], next=following)


@router.get(
    "/api/v1/alerts/{alert:path}",
    dependencies=[Depends(allowed(Scope.ALERTS_READ))],
    responses=answers(401, 403, 404, 422),
    summary="One alert, and each attempt to tell of it",
    description="Needs the scope `alerts:read`.",
)
def alert(
    services: ServicesOfApp,
    alert: _AlertId,
) -> AlertDetail:
    return _detail(services, alert)


@router.put(
    "/api/v1/alerts/{alert:path}/acknowledgement",
    responses=answers(401, 403, 404, 422, 503),
    summary="Take note of an alert",
    description="Who did it first, and when, stays with it. Needs the scope `alerts:acknowledge`.",
)
def acknowledge_alert(
    services: ServicesOfApp,
    alert: _AlertId,
    caller: Annotated[Caller, Depends(allowed(Scope.ALERTS_ACKNOWLEDGE))],
    given: Noted,
) -> AlertDetail:
    _detail(services, alert)
    services.acknowledgements.add(alert, caller.party, given.note)
    return _detail(services, alert)


def _detail(services: Services, alert: str) -> AlertDetail:
    found = services.alerts.find(alert)
    if found is None:
        raise NotFound(f"There is no alert {alert!r}", "`catchment alerts list` shows those there are.")
    return noted(found, services.acknowledgements)


def noted(alert: AnyAlert, acknowledgements: Acknowledgements) -> AnyAlert:
    """An alert with who has taken note of it."""
    return alert.model_copy(update={"acknowledged": acknowledgements.get(alert.id)})


def count(book: AlertBook, acknowledgements: Acknowledgements) -> AlertCounts:
    """How many alerts are open, and how many of them nobody looks after."""
    raised = [alert for alert in book.all() if alert.state is AlertState.RAISED]
    alone = [alert for alert in raised if acknowledgements.get(alert.id) is None]
    changed = book.changes + acknowledgements.count
    return AlertCounts(open=len(raised), unacknowledged=len(alone), changed=changed)


def _place(alert: AlertSummary) -> _Place:
    """Newest first, whatever happens to an alert later."""
    return -alert.first_ms, alert.id
