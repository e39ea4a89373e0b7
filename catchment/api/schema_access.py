"""Who may use the schema registry: a token as bearer, or as password of any user, as its clients send it."""

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBasic, HTTPBasicCredentials, HTTPBearer

from catchment.api.services import ServicesOfApp
from catchment.errors import Unauthenticated
from catchment.security.tokens import Scope, Token

_BEARER = HTTPBearer(auto_error=False)
_BASIC = HTTPBasic(auto_error=False)


def _token(
    services: ServicesOfApp,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
    basic: Annotated[HTTPBasicCredentials | None, Security(_BASIC)],
) -> Token:
    if bearer:
        return services.tokens.check(bearer.credentials)
    if basic:
        return services.tokens.check(basic.password)
    raise Unauthenticated(
        "The request shows no token", "Send it as bearer, or as the password of basic authentication."
    )


def _allowed(scope: Scope) -> Callable[[Token], None]:
    def check(token: Annotated[Token, Depends(_token)]) -> None:
        token.require(scope)

    return check


READ = [Depends(_allowed(Scope.REGISTRY_READ))]
WRITE = [Depends(_allowed(Scope.REGISTRY_WRITE))]
