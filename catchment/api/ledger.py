"""The ledger, page by page, and the proof: what arrived of each source, and what is missing."""

import base64
from bisect import bisect_right
from typing import Annotated

import orjson
from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field, TypeAdapter

from catchment.api.access import allowed
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.errors import InvalidRequest
from catchment.ledger.model import LedgerRow
from catchment.ledger.proof import Proof, compare
from catchment.security.tokens import Scope

router = APIRouter(tags=["ledger"])

_Place = tuple[str, str, str, int]
_PLACE = TypeAdapter(_Place)


class LedgerPage(BaseModel):
    """Some rows of the ledger, and where the next ones begin."""

    items: list[LedgerRow]
    next: str | None = Field(description="The cursor of the next page; null on the last one.")


@router.get(
    "/api/v1/ledger",
    dependencies=[Depends(allowed(Scope.LEDGER_READ))],
    responses=answers(401, 403, 422),
    summary="Rows of the ledger",
    description="Sorted by site, gateway, stream and epoch. Needs the scope `ledger:read`.",
)
def ledger(
    services: ServicesOfApp,
    limit: Annotated[int, Query(ge=1, le=1000, description="Most rows of a page.")] = 100,
    cursor: Annotated[
        str | None, Query(max_length=1000, description="The `next` of the page before.")
    ] = None,
) -> LedgerPage:
    rows = services.ledger.rows()
    start = bisect_right(rows, _decode(cursor), key=_place) if cursor else 0
    items = rows[start : start + limit]
    more = len(rows) > start + limit
    return LedgerPage(items=items, next=_encode(_place(items[-1])) if more else None)


@router.get(
    "/api/v1/proof",
    dependencies=[Depends(allowed(Scope.LEDGER_READ))],
    responses=answers(401, 403),
    summary="What was accepted against what arrived",
    description="Every source from its gateway through every hop to this node, as it is at this moment: "
    "what is under way now may arrive in the next. Needs the scope `ledger:read`.",
)
def proof(services: ServicesOfApp) -> Proof:
    known = services.ledger
    return compare(services.config.site, known.marks(), known.rows(), known.hops())


def _place(row: LedgerRow) -> _Place:
    return row.site, row.gateway, row.stream, row.epoch


def _encode(place: _Place) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(place)).decode()


def _decode(cursor: str) -> _Place:
    try:
        return _PLACE.validate_json(base64.urlsafe_b64decode(cursor))
    except ValueError:
        raise InvalidRequest(
            "The cursor cannot be read", "Send the `next` of an earlier page as it is."
        ) from None
