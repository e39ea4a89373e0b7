"""Who may use the schema registry: a token, also as the password of any user, or a console session."""

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBasic, HTTPBasicCredentials, HTTPBearer

from catchment.api.access import COOKIE, Caller, authenticate
from catchment.api.services import ServicesOfApp
from catchment.security.tokens import Scope

_BEARER = HTTPBearer(auto_error=False)
_BASIC = HTTPBasic(auto_error=False)


async def _caller(
    request: Request,
    services: ServicesOfApp,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
    basic: Annotated[HTTPBasicCredentials | None, Security(_BASIC)],
) -> Caller:
    if basic:
        # As the registry's own clients send it.
        bearer = HTTPAuthorizationCredentials(scheme="Bearer", credentials=basic.password)
    return await authenticate(request, services, bearer, request.cookies.get(COOKIE))


def _allowed(scope: Scope) -> Callable[[Caller], None]:
    def check(caller: Annotated[Caller, Depends(_caller)]) -> None:
        caller.holder.require(scope)

    return check


READ = [Depends(_allowed(Scope.REGISTRY_READ))]
WRITE = [Depends(_allowed(Scope.REGISTRY_WRITE))]
