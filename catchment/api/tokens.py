"""Tokens for programs: listed, made with a secret that is told once, and revoked."""

import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, Field

from catchment.api.access import Caller, allowed
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.config.section import Name
from catchment.errors import AccessRefused
from catchment.security.tokens import Scope, Token

router = APIRouter(prefix="/api/v1/tokens", tags=["tokens"])

_MANAGE = allowed(Scope.USERS_WRITE)
_Name = Annotated[Name, Path(description="The token's name.")]


class TokenSummary(BaseModel):
    """A token, without its secret."""

    name: str
    scopes: list[Scope]
    created_at: datetime.datetime
    expires_at: datetime.datetime | None


class NewToken(TokenSummary):
    """A token that was made now."""

    token: str = Field(description="What callers show. It is told this once.")


class TokenList(BaseModel):
    """All tokens, sorted by name."""

    items: list[TokenSummary]


class TokenSpec(BaseModel):
    """What a token allows, and for how long."""

    scopes: list[Scope] = Field(min_length=1, max_length=len(Scope))
    days: int | None = Field(
        None, ge=1, le=36_500, description="It expires after so many days; null for never."
    )

    model_config = {"json_schema_extra": {"examples": [{"scopes": ["metrics:read"], "days": 90}]}}


@router.get(
    "",
    dependencies=[Depends(_MANAGE)],
    responses=answers(401, 403),
    summary="All tokens",
    description="Needs the scope `users:write`.",
)
async def list_tokens(services: ServicesOfApp) -> TokenList:
    tokens = sorted(services.tokens.all().values(), key=lambda token: token.name)
    return TokenList(items=[_summary(token) for token in tokens])


@router.put(
    "/{name}",
    status_code=201,
    responses=answers(401, 403, 422),
    summary="Make a token, or a new secret for one",
    description="The old secret stops counting. Nobody can give away scopes that they lack. Needs the scope "
    "`users:write`.",
)
async def put_token(
    name: _Name, spec: TokenSpec, services: ServicesOfApp, caller: Annotated[Caller, Depends(_MANAGE)]
) -> NewToken:
    lacking = sorted(set(spec.scopes) - caller.holder.scopes)
    if lacking:
        raise AccessRefused(
            f"The caller lacks {', '.join(lacking)}", "Give away no more than what you may do yourself."
        )
    lifetime = datetime.timedelta(days=spec.days) if spec.days else None
    secret = services.tokens.create(name, frozenset(spec.scopes), lifetime)
    services.end_streams()
    return NewToken(**_summary(services.tokens.check(secret)).model_dump(), token=secret)


@router.delete(
    "/{name}",
    dependencies=[Depends(_MANAGE)],
    status_code=204,
    responses=answers(401, 403, 404, 422),
    summary="Revoke a token",
    description="Ends its sessions and live streams. Needs the scope `users:write`.",
)
async def delete_token(name: _Name, services: ServicesOfApp) -> None:
    services.tokens.revoke(name)
    services.end_streams()


def _summary(token: Token) -> TokenSummary:
    return TokenSummary(
        name=token.name,
        scopes=sorted(token.scopes),
        created_at=token.created_at,
        expires_at=token.expires_at,
    )
