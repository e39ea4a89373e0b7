"""Serves the console: one page, and files whose names change with their content."""

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, Response
from starlette.middleware.gzip import GZipMiddleware

from catchment.errors import PartFailed
from catchment.static_files import KeptFiles

STATIC = Path(__file__).parent / "static"
FOR_EVER = "public, max-age=31536000, immutable"


def add_console(app: FastAPI, static: Path = STATIC) -> None:
    """Adds the page at `/` and its assets."""

    async def page() -> Response:
        index = static / "index.html"
        if not index.exists():
            raise PartFailed("The console has not been built", "Run `make setup`.")
        return FileResponse(index, headers={"Cache-Control": "no-cache"})

    app.add_api_route("/", page, include_in_schema=False)
    app.mount("/assets", GZipMiddleware(KeptFiles(static / "assets", FOR_EVER), minimum_size=1024))
