"""Who is calling, and what they may do: a bearer token, or the cookie of a console session."""

import datetime
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer

from catchment.api.services import Services, ServicesOfApp
from catchment.api.sessions import Session
from catchment.errors import AccessRefused, Unauthenticated
from catchment.security.tokens import Scope, Token

# The prefix makes browsers refuse the cookie unless it is secure, for this host alone, and for every path.
COOKIE = "__Host-catchment"

_SAFE_METHODS = {"GET", "HEAD"}
_BEARER = HTTPBearer(
    auto_error=False, scheme_name="token", description="A token of `catchment token create`."
)
_COOKIE = APIKeyCookie(
    name=COOKIE, auto_error=False, scheme_name="session", description="The session of a console page."
)


@dataclass(frozen=True)
class Caller:
    """A token that was checked, and the session in which it was used, if any."""

    token: Token
    session: Session | None = None

    @property
    def party(self) -> str:
        """How the caller is known where objects say who may do what."""
        return f"token/{self.token.name}"

    def may_still(self, services: Services) -> bool:
        """Whether the answer would be the same now; streams ask again and again."""
        if self.session and services.sessions.find(self.session.id) is None:
            return False
        return is_current(self.token, services)


def is_current(token: Token, services: Services) -> bool:
    """Whether a token has been neither revoked nor replaced, and has not expired."""
    now = datetime.datetime.now(datetime.UTC)
    in_time = token.expires_at is None or now < token.expires_at
    return in_time and services.tokens.all().get(token.name) == token


async def authenticate(
    request: Request,
    services: ServicesOfApp,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
    cookie: Annotated[str | None, Security(_COOKIE)],
) -> Caller:
    """The caller, or a refusal."""
    if bearer:
        return Caller(services.tokens.check(bearer.credentials))
    session = services.sessions.find(cookie) if cookie else None
    if session is None or not is_current(session.token, services):
        raise Unauthenticated(
            "The request shows no valid token or session",
            "Send `Authorization: Bearer TOKEN`, or sign in to the console.",
        )
    if request.method not in _SAFE_METHODS and is_foreign(request, if_unknown=True):
        raise AccessRefused("The request comes from another site", "Use the console's own pages.")
    return Caller(session.token, session)


def is_foreign(request: Request, if_unknown: bool = False) -> bool:
    """Whether a browser says that a page of another site sent the request; other programs say nothing."""
    fetch_site = request.headers.get("sec-fetch-site")
    if fetch_site is not None:
        return fetch_site != "same-origin"
    origin = request.headers.get("origin")
    return origin != f"https://{request.headers.get('host')}" if origin else if_unknown


async def authenticate_page(
    request: Request,
    services: ServicesOfApp,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
    cookie: Annotated[str | None, Security(_COOKIE)],
) -> Caller | None:
    """The caller, or nobody for a page that is not signed in; a wrong token is refused all the same."""
    try:
        return await authenticate(request, services, bearer, cookie)
    except Unauthenticated:
        if bearer:
            raise
        return None


AnyCaller = Annotated[Caller, Depends(authenticate)]
PageCaller = Annotated[Caller | None, Depends(authenticate_page)]


def allowed(*scopes: Scope) -> Callable[[Caller], Awaitable[Caller]]:
    """A dependency: the caller, who has these scopes."""

    async def check(caller: AnyCaller) -> Caller:
        for scope in scopes:
            caller.token.require(scope)
        return caller

    return check
