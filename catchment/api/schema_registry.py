"""Confluent's REST API of a schema registry, an application of its own with that API's form of errors."""

from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from catchment.api import schema_settings, schema_versions
from catchment.api.services import Services
from catchment.errors import CatchmentError, SchemaRefused

PATH = "/schema-registry"
MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"


class RegistryResponse(JSONResponse):
    """What the registry's clients ask for."""

    media_type = MEDIA_TYPE


def mount_in(app: FastAPI, services: Services) -> None:
    """Serves the registry below an application."""
    registry = FastAPI(
        openapi_url=None, docs_url=None, redoc_url=None, default_response_class=RegistryResponse
    )
    registry.state.services = services
    for resource in (schema_versions, schema_settings):
        registry.include_router(resource.router)
    _handle_errors(registry)
    app.mount(PATH, registry)


def _handle_errors(registry: FastAPI) -> None:
    async def ours(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, CatchmentError)
        code = error.registry_code if isinstance(error, SchemaRefused) else error.http_status
        headers = (
            {"WWW-Authenticate": "Basic, Bearer"} if error.http_status == HTTPStatus.UNAUTHORIZED else None
        )
        # With what our own clients read: the same as in a problem.
        more = {"code": error.code, "detail": error.happened, "remedy": error.remedy}
        return _refusal(code, str(error), headers, more)

    async def of_the_router(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        return _refusal(error.status_code, error.detail)

    async def of_validation(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        return _refusal(422, wrong)

    registry.add_exception_handler(CatchmentError, ours)
    registry.add_exception_handler(HTTPException, of_the_router)
    registry.add_exception_handler(RequestValidationError, of_validation)


def _refusal(
    code: int, message: str, headers: dict[str, str] | None = None, more: dict[str, str] | None = None
) -> JSONResponse:
    """The registry's own codes have five digits, of which the first three are the status."""
    status = code if code < 1000 else code // 100
    return RegistryResponse({"error_code": code, "message": message, **(more or {})}, status, headers)
