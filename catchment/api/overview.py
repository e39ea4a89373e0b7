"""All that matters at a glance: sites, the ledger in one line, open alerts, and what changed lately."""

import time
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from catchment.alerts.model import AlertState
from catchment.alerts.view import AlertSummary
from catchment.api.access import Caller, allowed
from catchment.api.alerts import count, noted
from catchment.api.problems import answers
from catchment.api.rates import Look, Totals, look
from catchment.api.services import Services, ServicesOfApp
from catchment.api.site_health import SiteHealth, site_health
from catchment.audit.entry import AuditEntry
from catchment.config import Role
from catchment.errors import NodeNotRunning
from catchment.ledger.expiry import oldest_kept_us
from catchment.ledger.proof import compare
from catchment.node.status import NodeStatus, ask_node
from catchment.security.tokens import Scope

router = APIRouter(tags=["status"])

NEWEST_ALERTS = 5
NEWEST_CHANGES = 10


class OpenAlerts(BaseModel):
    """How many alerts are open, and the newest of them."""

    open: int
    unacknowledged: int
    newest: list[AlertSummary]


class Overview(BaseModel):
    """The node at a glance."""

    at_ms: int
    ready: bool
    site: str
    role: Role
    sites: list[SiteHealth]
    ledger: Totals
    alerts: OpenAlerts | None = Field(description="Null without the scope `alerts:read`.")
    changes: list[AuditEntry] | None = Field(
        description="The newest ten; null without the scope `audit:read`."
    )


@router.get(
    "/api/v1/overview",
    responses=answers(401, 403),
    summary="The node at a glance",
    description="Rates are known while a page follows `/api/v1/live`. Needs the scopes `status:read` and "
    "`ledger:read`.",
)
def overview(
    services: ServicesOfApp,
    caller: Annotated[Caller, Depends(allowed(Scope.STATUS_READ, Scope.LEDGER_READ))],
) -> Overview:
    status, known, scopes = _status(services), _look(services), caller.holder.scopes
    return Overview(
        at_ms=time.time_ns() // 1_000_000,
        ready=status is not None and status.ready,
        site=services.config.site,
        role=services.config.role,
        sites=site_health(services.config.site, known.streams.values(), status),
        ledger=known.totals,
        alerts=_alerts(services) if Scope.ALERTS_READ in scopes else None,
        changes=services.audit.book.newest()[:NEWEST_CHANGES] if Scope.AUDIT_READ in scopes else None,
    )


def _status(services: Services) -> NodeStatus | None:
    try:
        return ask_node(services.config)
    except NodeNotRunning:
        return None


def _look(services: Services) -> Look:
    """What pages see live, if one is open; else the ledger as it stands, without rates."""
    known = services.ledger
    return services.hub.newest_look or look(
        compare(
            services.config.site,
            known.marks(),
            known.rows(),
            known.hops(),
            kept_since_us=oldest_kept_us(services.config),
        ).streams,
        time.monotonic(),
        None,
    )


def _alerts(services: Services) -> OpenAlerts:
    counts = count(services.alerts, services.acknowledgements)
    raised = [alert for alert in services.alerts.all() if alert.state is AlertState.RAISED]
    newest = [noted(alert, services.acknowledgements) for alert in raised[:NEWEST_ALERTS]]
    return OpenAlerts(open=counts.open, unacknowledged=counts.unacknowledged, newest=newest)
