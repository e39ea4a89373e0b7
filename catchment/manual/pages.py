"""Serves the manual at `/docs`, to everybody: it says nothing of this node, and helps who cannot sign in."""

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import Response
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import Scope

from catchment.errors import PartFailed
from catchment.static_files import KeptFiles

ADDRESS = "/docs"
SITE = Path(__file__).parent / "site"


class Pages(KeptFiles):
    """The pages, which a browser asks about each time."""

    def __init__(self, site: Path) -> None:
        super().__init__(site, "no-cache", html=True)
        self._site = site

    async def get_response(self, path: str, scope: Scope) -> Response:
        if not self._site.is_dir():
            raise PartFailed("The manual has not been built", "Run `make setup`.")
        return await super().get_response(path, scope)


def add_manual(app: FastAPI, site: Path = SITE) -> None:
    """Adds the pages."""
    app.mount(ADDRESS, GZipMiddleware(Pages(site), minimum_size=1024))
