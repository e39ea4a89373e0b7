"""Serves the console: one page, and files whose names change with their content."""

from os import PathLike, stat_result
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import Scope

from catchment.errors import PartFailed

STATIC = Path(__file__).parent / "static"


class Assets(StaticFiles):
    """Files that a browser may keep for ever."""

    def file_response(
        self, full_path: str | PathLike[str], stat_result: stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def add_console(app: FastAPI, static: Path = STATIC) -> None:
    """Adds the page at `/` and its assets."""

    async def page() -> Response:
        index = static / "index.html"
        if not index.exists():
            raise PartFailed("The console has not been built", "Run `make setup`.")
        return FileResponse(index, headers={"Cache-Control": "no-cache"})

    app.add_api_route("/", page, include_in_schema=False)
    app.mount(
        "/assets", GZipMiddleware(Assets(directory=static / "assets", check_dir=False), minimum_size=1024)
    )
