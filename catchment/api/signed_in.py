"""The sessions that are open: one's own, and everybody's for who looks after users."""

import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from catchment.api.access import AnyCaller
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.errors import NotFound
from catchment.security.tokens import Scope

router = APIRouter(prefix="/api/v1/sessions", tags=["session"])


class OpenSession(BaseModel):
    """A session that is open now."""

    id: str = Field(description="What it is called here; nobody can use it to sign in.")
    name: str = Field(description="The user or the token.")
    kind: str = Field(description="`user` or `token`.")
    address: str = Field(description="Where it began.")
    began_at: datetime.datetime
    ends_at: datetime.datetime
    current: bool = Field(description="Whether it is the caller's own.")


class SessionList(BaseModel):
    """Open sessions, oldest first."""

    items: list[OpenSession]


@router.get(
    "",
    responses=answers(401, 403, 422),
    summary="Open sessions",
    description="The caller's own; everybody's with the scope `users:write`.",
)
async def list_sessions(
    caller: AnyCaller,
    services: ServicesOfApp,
    everybody: Annotated[bool, Query(description="Those of all users and tokens.")] = False,
) -> SessionList:
    if everybody:
        caller.holder.require(Scope.USERS_WRITE)
    now = datetime.datetime.now(datetime.UTC)
    return SessionList(
        items=[
            OpenSession(
                id=session.handle,
                name=session.holder.name,
                kind=session.holder.party.partition("/")[0],
                address=session.address,
                began_at=session.began_at,
                ends_at=now + datetime.timedelta(seconds=services.sessions.seconds_left(session)),
                current=caller.session is not None and caller.session.id == session.id,
            )
            for session in services.sessions.all(None if everybody else caller.party)
        ]
    )


@router.delete(
    "/{identifier}",
    status_code=204,
    responses=answers(401, 403, 404, 422),
    summary="End a session",
    description="One of the caller's own; anybody's with the scope `users:write`. Closes its live streams.",
)
async def end_session(
    identifier: Annotated[str, Path(max_length=64, description="The id that the list has.")],
    caller: AnyCaller,
    services: ServicesOfApp,
) -> None:
    whose = None if Scope.USERS_WRITE in caller.holder.scopes else caller.party
    found = next((each for each in services.sessions.all(whose) if each.handle == identifier), None)
    if found is None:
        raise NotFound(f"There is no session {identifier!r}", "It may have ended already.")
    services.sessions.end(found.id)
    services.end_streams()
