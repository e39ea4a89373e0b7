"""The audit log: who changed what, when and from where."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, TypeAdapter

from catchment.api.access import allowed
from catchment.api.paging import Cursor, Limit, Next, page_of
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.audit.entry import AuditEntry
from catchment.security.tokens import Scope

router = APIRouter(tags=["audit"])

_Place = tuple[int, str]
_PLACE: TypeAdapter[_Place] = TypeAdapter(_Place)


class AuditPage(BaseModel):
    """Some entries of the audit log, and where the next ones begin."""

    items: list[AuditEntry]
    next: Next


@router.get(
    "/api/v1/audit",
    dependencies=[Depends(allowed(Scope.AUDIT_READ))],
    responses=answers(401, 403, 422),
    summary="Who changed what",
    description="Newest first: the newest 20,000 of the last 30 days. Needs the scope `audit:read`.",
)
def list_audit(
    services: ServicesOfApp,
    who: Annotated[str | None, Query(max_length=200, description="Only of whom it contains this.")] = None,
    what: Annotated[
        str | None, Query(max_length=200, description="Only where operation or target contain this.")
    ] = None,
    since_ms: Annotated[int | None, Query(ge=0, description="At this time or later.")] = None,
    until_ms: Annotated[int | None, Query(ge=0, description="Before this time.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> AuditPage:
    chosen = [
        entry
        for entry in services.audit.book.newest()
        if (who is None or who in entry.who)
        and (what is None or what in entry.what or what in entry.target)
        and (since_ms is None or entry.at_ms >= since_ms)
        and (until_ms is None or entry.at_ms < until_ms)
    ]
    items, following = page_of(chosen, lambda entry: (-entry.at_ms, entry.id), _PLACE, limit, cursor)
    return AuditPage(items=items, next=following)
