"""Files that are served as they are, and for how long a browser may keep them."""

from os import PathLike, stat_result
from pathlib import Path

from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from starlette.types import Scope


class KeptFiles(StaticFiles):
    """Files below one folder and nowhere else; the folder need not be there yet."""

    def __init__(self, directory: Path, cache_control: str, *, html: bool = False) -> None:
        super().__init__(directory=directory, html=html, check_dir=False)
        self._cache_control = cache_control

    def file_response(
        self, full_path: str | PathLike[str], stat_result: stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers["Cache-Control"] = self._cache_control
        return response
