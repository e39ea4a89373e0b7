"""Every error leaves the API as an RFC 9457 problem, with the same code that the command line shows."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from catchment.errors import CatchmentError, InvalidRequest, TooManyAttempts

MEDIA_TYPE = "application/problem+json"

_ROUTER_CODES = {404: "not-found", 405: "method-not-allowed", 413: "content-too-large"}


class Problem(BaseModel):
    """What went wrong, and what to change."""

    type: str = Field(description="A name for this kind of problem, made of its code.")
    title: str = Field(description="The HTTP status in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What happened.")
    code: str = Field(description="A code that never changes, the same on the command line.")
    remedy: str | None = Field(default=None, description="What to change.")


class ProblemResponse(JSONResponse):
    """A problem on its way to the caller."""

    media_type = MEDIA_TYPE

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        remedy: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        problem = Problem(
            type=f"urn:catchment:problem:{code}",
            title=HTTPStatus(status).phrase,
            status=status,
            detail=detail,
            code=code,
            remedy=remedy,
        )
        super().__init__(problem.model_dump(exclude_none=True), status, headers)


def from_error(error: CatchmentError) -> ProblemResponse:
    """One of our own errors as a response."""
    headers = {}
    if error.http_status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, TooManyAttempts):
        headers["Retry-After"] = str(error.retry_after_s)
    return ProblemResponse(error.http_status, error.code, error.happened, error.remedy, headers)


def unexpected() -> ProblemResponse:
    """What a caller is told of a bug: that it is in the log, and nothing of its insides."""
    return ProblemResponse(
        500, "failed", "The request failed inside the service", "Look at the log of the api."
    )


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that a route can answer with, for its description."""
    return {status: {"model": Problem, "description": HTTPStatus(status).phrase} for status in statuses}


def handle_in(app: FastAPI) -> None:
    """Turns errors of ours, of the router and of validation into problems."""

    async def ours(_: Request, error: Exception) -> ProblemResponse:
        assert isinstance(error, CatchmentError)
        return from_error(error)

    async def of_the_router(_: Request, error: Exception) -> ProblemResponse:
        assert isinstance(error, HTTPException)
        if error.status_code == HTTPStatus.BAD_REQUEST:
            # What the framework says of a body in which it does not even find wrong JSON.
            return from_error(InvalidRequest("The body cannot be read", "Send JSON in UTF-8."))
        code = _ROUTER_CODES.get(error.status_code, InvalidRequest.code)
        return ProblemResponse(error.status_code, code, error.detail, headers=error.headers)

    async def of_validation(_: Request, error: Exception) -> ProblemResponse:
        assert isinstance(error, RequestValidationError)
        # Only places and reasons: what was sent may be a secret.
        wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        return from_error(InvalidRequest(wrong, "See /api/v1/openapi.json for what this address takes."))

    app.add_exception_handler(CatchmentError, ours)
    app.add_exception_handler(HTTPException, of_the_router)
    app.add_exception_handler(RequestValidationError, of_validation)
