"""The configuration that the node runs with."""

import os

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from catchment.api.access import allowed
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.config.loading import file_in_use
from catchment.config.shown import Setting, settings_of
from catchment.security.tokens import Scope

router = APIRouter(tags=["status"])


class Configuration(BaseModel):
    """Every key with its value; secrets are hidden."""

    file: str | None = Field(description="The file that was read, if there is one.")
    items: list[Setting]

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "file": "/etc/catchment.yaml",
                    "items": [
                        {"key": "site", "value": "oslo", "from": "file"},
                        {"key": "api.port", "value": 8443, "from": "default"},
                        {"key": "lake.storage_options", "value": {"key": "**********"}, "from": "file"},
                    ],
                }
            ]
        }
    }


@router.get(
    "/api/v1/configuration",
    dependencies=[Depends(allowed(Scope.SITES_WRITE))],
    responses=answers(401, 403),
    summary="The configuration in use",
    description="Every key with its value and where that came from, as `catchment config show` lists them: "
    "for those who set up nodes. Needs the scope `sites:write`.",
)
def configuration(services: ServicesOfApp) -> Configuration:
    file = file_in_use(None, os.environ)
    return Configuration(file=str(file) if file else None, items=settings_of(services.config))
