"""The people of a node, their roles and passwords."""

import asyncio
import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response
from pydantic import BaseModel, Field, SecretStr

from catchment.api.access import AnyCaller, Caller, allowed
from catchment.api.problems import answers
from catchment.api.services import Services, ServicesOfApp
from catchment.config.section import Name
from catchment.errors import AccessRefused, NotFound
from catchment.security.tokens import Scope
from catchment.security.users import LONGEST_PASSWORD, ROLE_SCOPES, User, UserRole

router = APIRouter(tags=["users"])

_Manager = Annotated[Caller, Depends(allowed(Scope.USERS_WRITE))]
_Name = Annotated[Name, Path(description="The user's name.")]
_Password = Annotated[SecretStr, Field(max_length=LONGEST_PASSWORD)]
_PASSWORD = Field(
    None,
    description="At least 10 characters, without the name in it. Null for a one-time password, which is made "
    "and told once.",
)


class UserSummary(BaseModel):
    """A user, without anything secret."""

    name: str
    role: UserRole
    created_at: datetime.datetime
    password_changed_at: datetime.datetime
    must_change_password: bool = Field(description="Whether a one-time password has still to be replaced.")


class ChangedUser(UserSummary):
    """A user after a change."""

    one_time_password: str | None = Field(description="Told this once, if one was made.")


class UserList(BaseModel):
    """All users, sorted by name."""

    items: list[UserSummary]


class UserSpec(BaseModel):
    """What a user is."""

    role: UserRole
    password: _Password | None = _PASSWORD

    model_config = {"json_schema_extra": {"examples": [{"role": "operator"}]}}


class PasswordSpec(BaseModel):
    """Another password for a user."""

    password: _Password | None = _PASSWORD

    model_config = {"json_schema_extra": {"examples": [{"password": None}]}}


class RoleSummary(BaseModel):
    """A role, and what it may do."""

    name: UserRole
    scopes: list[Scope]


class RoleList(BaseModel):
    """All roles, the least first, and all scopes."""

    items: list[RoleSummary]
    scopes: list[Scope]


@router.get("/api/v1/roles", responses=answers(401, 403), summary="The roles, and what each may do")
async def list_roles(_: AnyCaller) -> RoleList:
    roles = [RoleSummary(name=role, scopes=sorted(scopes)) for role, scopes in ROLE_SCOPES.items()]
    return RoleList(items=roles, scopes=sorted(Scope))


@router.get(
    "/api/v1/users",
    responses=answers(401, 403),
    summary="All users",
    description="Needs the scope `users:write`.",
)
async def list_users(services: ServicesOfApp, _: _Manager) -> UserList:
    return UserList(items=[_summary(user) for user in services.users.all().values()])


@router.put(
    "/api/v1/users/{name}",
    responses={
        201: {"model": ChangedUser, "description": "The user was made"},
        **answers(401, 403, 409, 422),
    },
    summary="Make a user, or change the role of one",
    description="Of a user that is there, a password is refused here. A change ends the user's sessions. "
    "Nobody can give or take a role that may more than they. Needs the scope `users:write`.",
)
async def put_user(
    name: _Name, spec: UserSpec, response: Response, services: ServicesOfApp, caller: _Manager
) -> ChangedUser:
    _require_as_much(caller, services, name, spec.role)
    if name in services.users.all() and spec.password is None:
        services.users.set_role(name, spec.role)
        return _changed(services, name, None)
    one_time = await asyncio.to_thread(services.users.add, name, spec.role, _text(spec.password))
    response.status_code = 201
    return _changed(services, name, one_time)


@router.put(
    "/api/v1/users/{name}/password",
    responses=answers(401, 403, 404, 422),
    summary="Give a user another password",
    description="Ends the user's sessions. Needs the scope `users:write`.",
)
async def put_user_password(
    name: _Name, spec: PasswordSpec, services: ServicesOfApp, caller: _Manager
) -> ChangedUser:
    _require_as_much(caller, services, name)
    one_time = await asyncio.to_thread(services.users.set_password, name, _text(spec.password))
    return _changed(services, name, one_time)


@router.delete(
    "/api/v1/users/{name}",
    status_code=204,
    responses=answers(401, 403, 404, 409, 422),
    summary="Remove a user",
    description="Ends the user's sessions. Needs the scope `users:write`.",
)
async def delete_user(name: _Name, services: ServicesOfApp, caller: _Manager) -> None:
    _require_as_much(caller, services, name)
    services.users.remove(name)
    _end_sessions(services, name)


def _require_as_much(caller: Caller, services: Services, name: str, role: UserRole | None = None) -> None:
    """Refuses to touch who may more than the caller, or to make somebody so."""
    known = services.users.all().get(name)
    roles = {role, known.role if known else None} - {None}
    lacking = sorted({scope for each in roles if each for scope in ROLE_SCOPES[each]} - caller.holder.scopes)
    if lacking:
        raise AccessRefused(
            f"The caller lacks {', '.join(lacking)}, which such a user may", "Ask an administrator."
        )


def _changed(services: Services, name: str, one_time: str | None) -> ChangedUser:
    _end_sessions(services, name)
    user = services.users.all().get(name)
    if user is None:
        raise NotFound(f"There is no user {name!r}", "Somebody else has removed it meanwhile.")
    return ChangedUser(**_summary(user).model_dump(), one_time_password=one_time)


def _end_sessions(services: Services, name: str) -> None:
    services.sessions.end_all(f"user/{name}")
    services.end_streams()


def _summary(user: User) -> UserSummary:
    return UserSummary.model_validate(user.model_dump(exclude={"password_argon2"}))


def _text(password: SecretStr | None) -> str | None:
    return password.get_secret_value() if password else None
