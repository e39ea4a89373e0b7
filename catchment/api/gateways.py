"""Gateways: who is connected, how full the spool is, and when it will be."""

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from catchment import health
from catchment.api.access import allowed
from catchment.api.problems import answers
from catchment.api.services import Services, ServicesOfApp
from catchment.config import Config, Role
from catchment.errors import NodeNotRunning
from catchment.health import State
from catchment.ledger.model import LedgerRow
from catchment.security.tokens import Scope

router = APIRouter(tags=["sites"])

PART = "gateway"
_MIB = 1 << 20


class GatewayState(BaseModel):
    """A gateway. Of one at another site only what its records tell is known."""

    site: str
    name: str
    own: bool = Field(description="Whether it runs on this node; else all figures of the process are null.")
    state: State | None
    detail: str
    connections: int | None
    listeners: dict[str, Any] = Field(description="Figures of each listener.")
    confirmed: int | None = Field(description="Records that Kafka has, since the start.")
    behind_bytes: int | None = Field(description="What the spool has that Kafka has not.")
    spool_bytes: int | None
    spool_max_bytes: int | None
    spool_fill: float | None = Field(description="From 0 to 1.")
    full_in_s: float | None = Field(
        description="Until the spool is full if it goes on so; null if it never will."
    )
    streams: int
    last_origin_us: int = Field(description="When its latest record began its way; 0 if none has come.")


class GatewayList(BaseModel):
    """This node's own gateway, and those of which records came."""

    items: list[GatewayState]


@router.get(
    "/api/v1/gateways",
    dependencies=[Depends(allowed(Scope.STATUS_READ, Scope.LEDGER_READ))],
    responses=answers(401, 403),
    summary="Gateways and their spools",
    description="Needs the scopes `status:read` and `ledger:read`.",
)
def list_gateways(services: ServicesOfApp) -> GatewayList:
    config = services.config
    known = {(row.site, row.gateway) for row in services.ledger.rows()}
    if config.role is not Role.CENTRE:
        known.add((config.site, config.gateway.name))
    return GatewayList(items=[_state(services, site, name) for site, name in sorted(known)])


def _state(services: Services, site: str, name: str) -> GatewayState:
    config = services.config
    rows = [row for row in services.ledger.rows() if (row.site, row.gateway) == (site, name)]
    own = site == config.site and name == config.gateway.name and config.role is not Role.CENTRE
    figures = _figures(services) if own else _NOTHING
    return GatewayState(site=site, name=name, own=own, **figures, **_of_rows(rows))


_NOTHING: dict[str, Any] = {
    "state": None,
    "detail": "",
    "connections": None,
    "listeners": {},
    "confirmed": None,
    "behind_bytes": None,
    "spool_bytes": None,
    "spool_max_bytes": None,
    "spool_fill": None,
    "full_in_s": None,
}


def _figures(services: Services) -> dict[str, Any]:
    config: Config = services.config
    try:
        report = health.ask(config.paths.socket(PART))
    except NodeNotRunning as error:
        return {**_NOTHING, "state": State.STOPPED, "detail": error.happened}
    told = {name: report.figures.get(name) for name in _NOTHING if name in report.figures}
    max_bytes = config.gateway.spool.max_mib * _MIB
    spool_bytes = told.get("spool_bytes")
    full_in_s = None if spool_bytes is None else services.spool_forecast.full_in_s(spool_bytes, max_bytes)
    known = {
        "state": report.state,
        "detail": report.detail,
        "spool_max_bytes": max_bytes,
        "full_in_s": full_in_s,
    }
    return {**_NOTHING, **told, **known}


def _of_rows(rows: Iterable[LedgerRow]) -> dict[str, int]:
    kept = list(rows)
    return {
        "streams": len({row.stream for row in kept}),
        "last_origin_us": max((row.last_origin_us for row in kept), default=0),
    }
