"""The ledger, page by page, and the proof: what arrived of each source, and what is missing."""

from fastapi import APIRouter, Depends
from pydantic import BaseModel, TypeAdapter

from catchment.api.access import allowed
from catchment.api.paging import Cursor, Limit, Next, page_of
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.kafka.parties import Party
from catchment.ledger.expiry import oldest_kept_us
from catchment.ledger.model import LedgerRow
from catchment.ledger.proof import Proof, compare
from catchment.ledger.stages import stages_of
from catchment.security.tokens import Scope
from catchment.store.counting import under_way

router = APIRouter(tags=["ledger"])

_Place = tuple[str, str, str, int]
_PLACE = TypeAdapter(_Place)


class LedgerPage(BaseModel):
    """Some rows of the ledger, and where the next ones begin."""

    items: list[LedgerRow]
    next: Next


@router.get(
    "/api/v1/ledger",
    dependencies=[Depends(allowed(Scope.LEDGER_READ))],
    responses=answers(401, 403, 422),
    summary="Rows of the ledger",
    description="Sorted by site, gateway, stream and epoch. Needs the scope `ledger:read`.",
)
def ledger(services: ServicesOfApp, limit: Limit = 100, cursor: Cursor = None) -> LedgerPage:
    items, following = page_of(services.ledger.rows(), _place, _PLACE, limit, cursor)
    return LedgerPage(items=items, next=following)


@router.get(
    "/api/v1/proof",
    dependencies=[Depends(allowed(Scope.LEDGER_READ))],
    responses=answers(401, 403),
    summary="What was accepted against what arrived",
    description="Every source from its gateway through every hop to this node, as it is at this moment: "
    "what is under way now may arrive in the next. Needs the scope `ledger:read`.",
)
def proof(services: ServicesOfApp) -> Proof:
    known, config = services.ledger, services.config
    waiting = under_way(config, Party.API)
    return compare(
        config.site,
        known.marks(),
        known.rows(),
        known.hops(),
        stages=stages_of(config),
        waiting=waiting,
        kept_since_us=oldest_kept_us(config),
    )


def _place(row: LedgerRow) -> _Place:
    return row.site, row.gateway, row.stream, row.epoch
