"""Changes of twins: they go to the pipeline, which decides, and can be followed or waited for."""

from typing import Annotated, Any, Self

from fastapi import APIRouter, Body, Depends, Header, Query, Request, Response
from pydantic import (
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
    model_validator,
)

from catchment.api.access import Caller, allowed
from catchment.api.declared import Id, IfMatch
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.api.twin_answers import LONGEST_WAIT_S, changed, over, under_way, wait_of
from catchment.api.twins import OfSite
from catchment.config.section import Name
from catchment.errors import UnsupportedContent
from catchment.registry.model import Spec, Text
from catchment.security.tokens import Scope
from catchment.twins.model import Action, ObjectChange, ValueChange
from catchment.twins.transactions import Transaction, TransactionState

router = APIRouter(prefix="/api/v1/twins", tags=["twins"])

MERGE_PATCH = "application/merge-patch+json"

Writer = Annotated[Caller, Depends(allowed(Scope.TWINS_WRITE))]
Prefer = Annotated[
    str | None,
    Header(description=f"`wait=N`: answer when it is decided, or after N seconds, at most {LONGEST_WAIT_S}."),
]
_LONG = 2**63
Scalar = (
    StrictBool
    | Annotated[StrictInt, Field(ge=-_LONG, lt=_LONG)]
    | Annotated[StrictFloat, Field(allow_inf_nan=False)]
    | Annotated[StrictStr, StringConstraints(max_length=10_000)]
)
Number = Annotated[StrictInt, Field(ge=-_LONG, lt=_LONG)] | Annotated[StrictFloat, Field(allow_inf_nan=False)]
ValueName = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Increment(Spec):
    """What is added to a value; one that is not there counts as 0."""

    add: Number


class TwinPut(Spec):
    """An object as it shall be made, or values that are set."""

    type: Name
    values: dict[ValueName, Scalar] = Field(default_factory=dict)
    notify: Text | None = Field(None, description="Something that people should be told.")


class TwinPatch(Spec):
    """What changes of an object: a value is set, `{"add": 1}` is added to it, null removes it."""

    values: dict[ValueName, Increment | Scalar | None] = Field(default_factory=dict)
    notify: Text | None = Field(None, description="Something that people should be told.")


class ValueRequest(Spec):
    """What happens to one value: exactly one of these."""

    set: Scalar | None = None
    add: Number | None = None
    unset: bool | None = Field(None, description="True removes it.")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(each is not None for each in (self.set, self.add, self.unset or None)) != 1:
            raise ValueError("has to have exactly one of set, add and unset")
        return self


class ChangeRequest(Spec):
    """What is asked of one object; all of it happens, or nothing."""

    action: Action = Action.CHANGE
    type: Name | None = Field(None, description="Needed to make one.")
    values: dict[ValueName, ValueRequest] = Field(default_factory=dict)
    if_version: int | None = Field(None, ge=1, lt=_LONG)
    notify: Text | None = None


class ChangesRequest(Spec):
    """Changes of several objects of this site, each on its own."""

    objects: dict[Name, ChangeRequest] = Field(min_length=1, max_length=1000)


def _answered(*done: int) -> dict[int | str, dict[str, Any]]:
    """202 by itself; with `Prefer: wait`, what it came to."""
    told: dict[int | str, dict[str, Any]] = {202: {"model": Transaction, "description": "It is under way."}}
    for status in done:
        description = "It was decided within the time that the caller waited."
        told[status] = {"description": description} | ({} if status == 204 else {"model": Transaction})
    return told | answers(401, 403, 404, 409, 412, 413, 422, 503)


_WHILE = (
    "Answers 202 with the transaction as soon as Kafka has it, or what it came to with `Prefer: wait=N`. "
    "Needs the scope `twins:write`, and the pipeline decides whether the caller may."
)


@router.put(
    "/{identifier}",
    status_code=202,
    response_model=Transaction,
    responses=_answered(200, 201),
    summary="Make an object of this site, or set values of it",
    description="With `If-None-Match: *` it is made only if it is not there. Values that are not named stay. "
    + _WHILE,
)
async def put_twin(
    services: ServicesOfApp,
    caller: Writer,
    identifier: Id,
    spec: TwinPut,
    expected: IfMatch,
    site: OfSite = None,
    prefer: Prefer = None,
) -> Response:
    values = {name: ValueChange(set=value) for name, value in spec.values.items()}
    action = Action.CREATE if expected.absent else Action.PUT
    change = ObjectChange(
        action=action, type=spec.type, values=values, if_version=expected.version, notify=spec.notify
    )
    return await changed(services, caller, identifier, change, site, prefer, expected)


@router.patch(
    "/{identifier}",
    status_code=202,
    response_model=Transaction,
    responses=_answered(200) | answers(415),
    summary="Change values of an object of this site",
    description=f'A JSON merge patch of `values`; besides, `{{"add": 1}}` adds to a number. {_WHILE}',
)
async def patch_twin(
    request: Request,
    services: ServicesOfApp,
    caller: Writer,
    identifier: Id,
    patch: Annotated[TwinPatch, Body(media_type=MERGE_PATCH)],
    expected: IfMatch,
    site: OfSite = None,
    prefer: Prefer = None,
) -> Response:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (MERGE_PATCH, "application/json"):
        raise UnsupportedContent(f"A change cannot be of type {kind!r}", f"Send {MERGE_PATCH}.")
    values = {name: _value_change(value) for name, value in patch.values.items()}
    change = ObjectChange(values=values, if_version=expected.version, notify=patch.notify)
    return await changed(services, caller, identifier, change, site, prefer, expected)


@router.delete(
    "/{identifier}",
    status_code=202,
    response_model=Transaction,
    responses=_answered(204),
    summary="Delete an object of this site, or mark it as deleted",
    description=f"For good, unless `mark` is true. {_WHILE}",
)
async def delete_twin(
    services: ServicesOfApp,
    caller: Writer,
    identifier: Id,
    expected: IfMatch,
    mark: Annotated[bool, Query(description="Only mark it as deleted, with the time.")] = False,
    site: OfSite = None,
    prefer: Prefer = None,
) -> Response:
    action = Action.MARK_DELETED if mark else Action.DELETE
    change = ObjectChange(action=action, if_version=expected.version)
    return await changed(services, caller, identifier, change, site, prefer, expected)


@router.post(
    "",
    status_code=202,
    response_model=Transaction,
    responses=_answered(200),
    summary="Change several objects of this site",
    description=f"Each on its own: some may be refused. What became of each is in the transaction. {_WHILE}",
)
async def change_twins(
    services: ServicesOfApp, caller: Writer, changes: ChangesRequest, prefer: Prefer = None
) -> Response:
    objects = {
        name: ObjectChange.model_validate(change.model_dump(exclude_none=True))
        for name, change in changes.objects.items()
    }
    transactions, wait_s = services.twins.transactions, wait_of(prefer)
    transaction = await transactions.send(caller.party, objects)
    known = await transactions.wait(transaction, caller.party, wait_s)
    return under_way(known, wait_s) if known.state is TransactionState.UNDER_WAY else over(known, wait_s)


def _value_change(value: Any) -> ValueChange:
    if value is None:
        return ValueChange(unset=True)
    return ValueChange(add=value.add) if isinstance(value, Increment) else ValueChange(set=value)
