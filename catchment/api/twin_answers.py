"""How a change of twins is answered: what was decided as a status, or where to ask later."""

import asyncio
import re
import time

from fastapi import Response

from catchment.api.access import Caller
from catchment.api.declared import tag
from catchment.api.services import Services
from catchment.api.twins import json_response
from catchment.errors import (
    AccessRefused,
    CatchmentError,
    Conflict,
    InvalidRequest,
    NotFound,
    PartitionsMissing,
    VersionChanged,
)
from catchment.registry.shelf import Expected
from catchment.twins.model import Action, ObjectChange, Outcome, Refusal
from catchment.twins.transactions import Transaction, TransactionState

LONGEST_WAIT_S = 30
_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*\"?([0-9]{1,6})", re.IGNORECASE)
_LOOK_S = 0.005
_DELETIONS = (Action.DELETE, Action.MARK_DELETED)

_ERRORS: dict[Refusal, type[CatchmentError]] = {
    Refusal.NOT_PERMITTED: AccessRefused,
    Refusal.NOT_FOUND: NotFound,
    Refusal.EXISTS: Conflict,
    Refusal.DELETED: Conflict,
    Refusal.TYPE_DIFFERS: Conflict,
    Refusal.VERSION_CHANGED: VersionChanged,
}
_REMEDIES: dict[Refusal, str] = {
    Refusal.NOT_PERMITTED: "Let its type name the caller among its writers.",
    Refusal.EXISTS: "Change it, or choose another id.",
    Refusal.DELETED: "Make it anew by PUT.",
    Refusal.TYPE_DIFFERS: "Delete it first, or name the type that it has.",
    Refusal.UNKNOWN_TYPE: "Declare the type first.",
    Refusal.VERSION_CHANGED: "Read it again first.",
}


async def changed(
    services: Services,
    caller: Caller,
    identifier: str,
    change: ObjectChange,
    site: str | None,
    prefer: str | None,
    expected: Expected,
) -> Response:
    """Asks for a change of one object, and answers with as much as the caller waits for."""
    _check(services, identifier, site, change, expected)
    transactions, wait_s = services.twins.transactions, wait_of(prefer)
    began_s = time.monotonic()
    transaction = await transactions.send(caller.party, {identifier: change})
    known = await transactions.wait(transaction, caller.party, wait_s)
    if known.state is TransactionState.UNDER_WAY:
        return under_way(known, wait_s)
    outcome = known.objects[0]
    if outcome.refusal:
        raise _refused(outcome, expected)
    await _shown(services, outcome, change.action, began_s + wait_s)
    return _decided(known, outcome, change.action, wait_s)


def under_way(known: Transaction, wait_s: float) -> Response:
    """Where what becomes of it will be told."""
    response = json_response(known.model_dump_json().encode(), 202, _waited(wait_s))
    response.headers["Location"] = f"/api/v1/twins/transactions/{known.transaction}"
    return response


def over(known: Transaction, wait_s: float, status: int = 200) -> Response:
    """What became of it."""
    return json_response(known.model_dump_json().encode(), status, _waited(wait_s))


def wait_of(prefer: str | None) -> float:
    """How long a caller prefers to wait."""
    match = _WAIT.search(prefer or "")
    return min(float(match[1]), LONGEST_WAIT_S) if match else 0.0


def _waited(wait_s: float) -> dict[str, str]:
    return {"Preference-Applied": f"wait={wait_s:g}"} if wait_s else {}


def _check(
    services: Services, identifier: str, site: str | None, change: ObjectChange, expected: Expected
) -> None:
    if site not in (None, services.config.site):
        raise Conflict(
            f"The object {identifier!r} belongs to {site}", "Change it at its site; it is relayed to here."
        )
    if expected.absent and change.action is not Action.CREATE:
        raise VersionChanged("Only what is there can be changed", "Leave out If-None-Match.")


def _refused(outcome: Outcome, expected: Expected) -> CatchmentError:
    refusal = outcome.refusal or Refusal.MALFORMED
    error = _ERRORS.get(refusal, InvalidRequest)
    if refusal is Refusal.EXISTS and expected.absent:
        error = VersionChanged
    remedy = _REMEDIES.get(refusal, "See what its type says of its values.")
    return error(outcome.reason.rstrip(".") or f"The change was refused ({refusal.value})", remedy)


async def _shown(services: Services, outcome: Outcome, action: Action, until_s: float) -> None:
    """Waits until the view shows it, so that whoever changes and then asks sees the change."""
    while time.monotonic() < until_s:
        try:
            entry = await services.twins.view.find(outcome.site, outcome.id)
        except PartitionsMissing:
            return
        if entry is None and action is Action.DELETE:
            return
        if entry and outcome.version is not None and entry.version >= outcome.version:
            return
        await asyncio.sleep(_LOOK_S)


def _decided(known: Transaction, outcome: Outcome, action: Action, wait_s: float) -> Response:
    if action in _DELETIONS:
        return Response(status_code=204, headers=_waited(wait_s))
    is_made = action in (Action.CREATE, Action.PUT) and known.state is TransactionState.APPLIED
    response = over(
        known, wait_s, 201 if is_made and (action is Action.CREATE or outcome.version == 1) else 200
    )
    tag(response, outcome.version)
    return response
