"""Who is calling, and what they may do: a bearer token, or the cookie of a console session."""

import datetime
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer

from catchment.api.services import Services, ServicesOfApp
from catchment.api.sessions import Session
from catchment.errors import AccessRefused, Unauthenticated
from catchment.security.tokens import Holder, Scope
from catchment.security.users import User

# The prefix makes browsers refuse the cookie unless it is secure, for this host alone, and for every path.
COOKIE = "__Host-catchment"

SAFE_METHODS = {"GET", "HEAD"}
_BEARER = HTTPBearer(
    auto_error=False, scheme_name="token", description="A token of `catchment token create`."
)
_COOKIE = APIKeyCookie(
    name=COOKIE, auto_error=False, scheme_name="session", description="The session of a console page."
)


@dataclass(frozen=True)
class Caller:
    """A token or a user that was checked, and the session in which it was used, if any."""

    holder: Holder
    session: Session | None = None

    @property
    def party(self) -> str:
        """How the caller is known where objects say who may do what."""
        return self.holder.party

    def may_still(self, services: Services) -> bool:
        """Whether the answer would be the same now; streams ask again and again."""
        if self.session and services.sessions.find(self.session.id) is None:
            return False
        return is_current(self.holder, services)


def is_current(holder: Holder, services: Services) -> bool:
    """Whether they are as they were: not removed or replaced, with the same rights, and not expired."""
    now = datetime.datetime.now(datetime.UTC)
    in_time = holder.expires_at is None or now < holder.expires_at
    known: Mapping[str, Holder] = services.users.all() if isinstance(holder, User) else services.tokens.all()
    return in_time and known.get(holder.name) == holder


def address_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client else "unknown"


async def authenticate(
    request: Request,
    services: ServicesOfApp,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
    cookie: Annotated[str | None, Security(_COOKIE)],
) -> Caller:
    """The caller, or a refusal."""
    caller = _caller(request, services, bearer, cookie)
    # For the audit log, which writes down what became of the request.
    request.state.who = caller.party
    return caller


def _caller(
    request: Request, services: Services, bearer: HTTPAuthorizationCredentials | None, cookie: str | None
) -> Caller:
    if bearer:
        return Caller(services.tokens.check(bearer.credentials))
    session = services.sessions.find(cookie) if cookie else None
    if session is None or not is_current(session.holder, services):
        raise Unauthenticated(
            "The request shows no valid token or session",
            "Send `Authorization: Bearer TOKEN`, or sign in to the console.",
        )
    if request.method not in SAFE_METHODS and is_foreign(request, if_unknown=True):
        raise AccessRefused("The request comes from another site", "Use the console's own pages.")
    return Caller(session.holder, session)


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
            caller.holder.require(scope)
        return caller

    return check
