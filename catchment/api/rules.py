"""Rules: thresholds that measurements are watched with."""

from fastapi import APIRouter, Depends, Response, status
from pydantic import BaseModel

from catchment.alerts.rules import Rule, RuleSpec
from catchment.api.access import allowed
from catchment.api.declared import CHANGED, LISTED, PLACE, SHOWN, Id, IfMatch, place_of, tag
from catchment.api.paging import Cursor, Limit, Next, page_of
from catchment.api.services import ServicesOfApp
from catchment.security.tokens import Scope

router = APIRouter(prefix="/api/v1/rules", tags=["rules"])

READ = [Depends(allowed(Scope.RULES_READ))]
WRITE = [Depends(allowed(Scope.RULES_WRITE))]


class RulePage(BaseModel):
    """Some rules, and where the next ones begin."""

    items: list[Rule]
    next: Next


@router.get(
    "",
    dependencies=READ,
    responses=LISTED,
    summary="All rules, sorted by id",
    description="Needs the scope `rules:read`.",
)
def list_rules(services: ServicesOfApp, limit: Limit = 100, cursor: Cursor = None) -> RulePage:
    items, following = page_of(services.rules.all(), place_of, PLACE, limit, cursor)
    return RulePage(items=items, next=following)


@router.get(
    "/{identifier}",
    dependencies=READ,
    responses=SHOWN,
    summary="One rule",
    description="Its version is the ETag. Needs the scope `rules:read`.",
)
def get_rule(services: ServicesOfApp, response: Response, identifier: Id) -> Rule:
    found = services.rules.get(identifier)
    tag(response, found.version)
    return found


@router.put(
    "/{identifier}",
    dependencies=WRITE,
    responses=CHANGED,
    summary="Declare or change a rule",
    description="A change ends what the rule has under way; what is the same already stays as it is. "
    "Needs the scope `rules:write`.",
)
def put_rule(
    services: ServicesOfApp, response: Response, identifier: Id, spec: RuleSpec, expected: IfMatch
) -> Rule:
    written = services.rules.put(identifier, spec, expected)
    tag(response, written.version)
    return written


@router.delete(
    "/{identifier}",
    dependencies=WRITE,
    responses=CHANGED,
    status_code=status.HTTP_204_NO_CONTENT,
    summary="Remove a rule",
    description="Ends what the rule has under way. Needs the scope `rules:write`.",
)
def delete_rule(services: ServicesOfApp, identifier: Id, expected: IfMatch) -> None:
    services.rules.delete(identifier, expected)
