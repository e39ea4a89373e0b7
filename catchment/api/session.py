"""Signing in to the console, and out of it; a password of one's own."""

import asyncio
import datetime
from typing import Annotated, Self

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field, SecretStr, model_validator

from catchment.api.access import COOKIE, AnyCaller, Caller, PageCaller, address_of, is_foreign
from catchment.api.problems import answers
from catchment.api.services import Services, ServicesOfApp
from catchment.api.sessions import Session
from catchment.errors import AccessRefused
from catchment.security.tokens import Scope
from catchment.security.users import LONGEST_PASSWORD, User, UserRole

router = APIRouter(prefix="/api/v1/session", tags=["session"])

_Secret = Annotated[SecretStr, Field(max_length=500)]
_Password = Annotated[SecretStr, Field(max_length=LONGEST_PASSWORD)]


class SignIn(BaseModel):
    """What a sign-in takes: a token, or a name and a password."""

    token: _Secret | None = Field(None, description="A token of `catchment token create`.")
    name: str | None = Field(None, max_length=64, description="The name of a user.")
    password: _Password | None = Field(None, description="The user's password.")

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        given = (self.token is not None, self.name is not None, self.password is not None)
        if given not in ((True, False, False), (False, True, True)):
            raise ValueError("give a token, or a name and a password")
        return self

    model_config = {"json_schema_extra": {"examples": [{"name": "alice", "password": "a long sentence"}]}}


class NewPassword(BaseModel):
    """A change of one's own password."""

    current: _Password = Field(description="The password that counts now.")
    new: _Password = Field(description="At least 10 characters, without the name in it.")

    model_config = {
        "json_schema_extra": {"examples": [{"current": "k3vd-9mqa-7pfs-2ncx", "new": "a long sentence"}]}
    }


class Who(BaseModel):
    """Who the caller is."""

    name: str = Field(description="The name of the user or of the token.")
    kind: str = Field(description="`user` or `token`.")
    role: UserRole | None = Field(description="Of a user.")
    scopes: list[Scope] = Field(description="What they may do.")
    ends_at: datetime.datetime | None = Field(description="When the session or the token ends.")
    must_change_password: bool = Field(
        description="Whether the password was for one time: nothing is allowed before it is replaced."
    )


@router.post(
    "",
    status_code=201,
    responses=answers(401, 403, 413, 422, 429),
    summary="Sign in",
    description=f"With a token, or a name and a password. Sets the cookie `{COOKIE}`. After five failures a "
    "name and an address have to wait, longer each time; whether there is such a name is never told.",
)
async def sign_in(body: SignIn, request: Request, response: Response, services: ServicesOfApp) -> Who:
    if is_foreign(request):
        raise AccessRefused("The sign-in comes from another site", "Use the console's own page.")
    address = address_of(request)
    if body.token:
        session = services.sessions.begin(
            services.sign_ins.by_token(body.token.get_secret_value(), address), address
        )
    else:
        assert body.name is not None
        assert body.password is not None
        user = await services.sign_ins.by_password(body.name, body.password.get_secret_value(), address)
        session = services.sessions.begin(user, address)
    return _begun(request, response, session, services)


@router.get(
    "",
    responses={200: {"model": Who}, 204: {"description": "Nobody is signed in"}, **answers(401)},
    response_model=None,
    # Besides those who show something, anybody.
    openapi_extra={"security": [{}]},
    summary="Who am I",
)
async def who_am_i(caller: PageCaller, services: ServicesOfApp) -> Who | Response:
    return _who(caller, services) if caller else Response(status_code=204)


@router.put(
    "/password",
    responses=answers(401, 403, 413, 422, 429),
    summary="Change one's own password",
    description="Ends every session of the user, and begins a new one for this page.",
)
async def change_password(
    body: NewPassword, caller: AnyCaller, request: Request, response: Response, services: ServicesOfApp
) -> Who:
    if not isinstance(caller.holder, User):
        raise AccessRefused("A token has no password", "Make a new secret with `catchment token create`.")
    address, name = address_of(request), caller.holder.name
    await services.sign_ins.by_password(name, body.current.get_secret_value(), address)
    await asyncio.to_thread(services.users.set_password, name, body.new.get_secret_value())
    services.sessions.end_all(caller.party)
    services.end_streams()
    session = services.sessions.begin(services.users.all()[name], address)
    return _begun(request, response, session, services)


@router.delete(
    "",
    status_code=204,
    responses=answers(401, 403, 422),
    summary="Sign out",
    description="Closes its live streams.",
)
async def sign_out(
    caller: AnyCaller,
    response: Response,
    services: ServicesOfApp,
    everywhere: Annotated[bool, Query(description="Also end all other sessions of the caller.")] = False,
) -> None:
    if caller.session:
        services.sessions.end(caller.session.id)
    if everywhere:
        services.sessions.end_all(caller.party)
    services.end_streams()
    response.delete_cookie(COOKIE, path="/", secure=True, httponly=True, samesite="strict")


def _begun(request: Request, response: Response, session: Session, services: Services) -> Who:
    """Hands out the cookie of a session."""
    caller = Caller(session.holder, session)
    request.state.who = caller.party
    response.set_cookie(
        COOKIE,
        session.id,
        max_age=int(services.sessions.seconds_left(session)),
        path="/",
        secure=True,
        httponly=True,
        samesite="strict",
    )
    return _who(caller, services)


def _who(caller: Caller, services: Services) -> Who:
    holder = caller.holder
    ends = [holder.expires_at] if holder.expires_at else []
    if caller.session:
        left = datetime.timedelta(seconds=services.sessions.seconds_left(caller.session))
        ends.append(datetime.datetime.now(datetime.UTC) + left)
    user = holder if isinstance(holder, User) else None
    return Who(
        name=holder.name,
        kind="user" if user else "token",
        role=user.role if user else None,
        scopes=sorted(holder.scopes),
        ends_at=min(ends, default=None),
        must_change_password=user is not None and user.must_change_password,
    )
