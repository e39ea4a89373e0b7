"""Signing in to the console, and out of it."""

import datetime
from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, SecretStr

from catchment.api.access import COOKIE, AnyCaller, Caller, PageCaller, is_foreign
from catchment.api.problems import answers
from catchment.api.services import Services, ServicesOfApp
from catchment.errors import AccessRefused, Unauthenticated
from catchment.security.tokens import Scope

router = APIRouter(prefix="/api/v1/session", tags=["session"])


class SignIn(BaseModel):
    """What a sign-in takes."""

    token: Annotated[SecretStr, Field(max_length=500, description="A token of `catchment token create`.")]


class Who(BaseModel):
    """Who the caller is."""

    name: str = Field(description="The name of the token.")
    scopes: list[Scope] = Field(description="What it allows.")
    ends_at: datetime.datetime | None = Field(description="When the session or the token ends.")


@router.post(
    "",
    status_code=201,
    responses=answers(401, 403, 413, 422, 429),
    summary="Sign in",
    description=f"Sets the cookie `{COOKIE}`. After five failures in a minute an address has to wait.",
)
async def sign_in(body: SignIn, request: Request, response: Response, services: ServicesOfApp) -> Who:
    if is_foreign(request):
        raise AccessRefused("The sign-in comes from another site", "Use the console's own page.")
    address = request.client.host if request.client else "unknown"
    services.failed_sign_ins.refuse_if_too_many(address)
    try:
        token = services.tokens.check(body.token.get_secret_value())
    except Unauthenticated:
        services.failed_sign_ins.add(address)
        raise
    session = services.sessions.begin(token)
    response.set_cookie(
        COOKIE,
        session.id,
        max_age=int(services.sessions.seconds_left(session)),
        path="/",
        secure=True,
        httponly=True,
        samesite="strict",
    )
    return _who(Caller(token, session), services)


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


@router.delete(
    "",
    status_code=204,
    responses=answers(401, 403),
    summary="Sign out",
    description="Closes its live streams.",
)
async def sign_out(caller: AnyCaller, response: Response, services: ServicesOfApp) -> None:
    if caller.session:
        services.sessions.end(caller.session.id)
        services.hub.review()
        services.twins.watchers.review()
    response.delete_cookie(COOKIE, path="/", secure=True, httponly=True, samesite="strict")


def _who(caller: Caller, services: Services) -> Who:
    ends = [caller.token.expires_at] if caller.token.expires_at else []
    if caller.session:
        left = datetime.timedelta(seconds=services.sessions.seconds_left(caller.session))
        ends.append(datetime.datetime.now(datetime.UTC) + left)
    return Who(name=caller.token.name, scopes=sorted(caller.token.scopes), ends_at=min(ends, default=None))
