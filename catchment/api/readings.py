"""What a sensor measured, to draw: from the lake in few points, and live."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from catchment.api.access import Caller, allowed
from catchment.api.lake import Since, Until
from catchment.api.live import EventStream
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.lake.readings import Readings, readings_of
from catchment.lake.tables import lake_of
from catchment.security.tokens import Scope

router = APIRouter(prefix="/api/v1/readings", tags=["lake"])

_Sensor = Annotated[str, Query(max_length=200, description="The sensor, as `site/id`.")]


class LiveReading(BaseModel):
    """The event `reading`."""

    at_ms: int = Field(description="When it was measured.")
    values: dict[str, float] = Field(description="Its values that are numbers.")


@router.get(
    "",
    dependencies=[Depends(allowed(Scope.DATA_READ))],
    responses=answers(401, 403, 404, 408, 422, 503),
    summary="The readings of a sensor, in few points",
    description="Each point is a stretch of time with the least, the greatest and the mean reading in it: no "
    "peak is lost. Needs the scope `data:read`.",
)
def readings(
    services: ServicesOfApp,
    sensor: _Sensor,
    field: Annotated[
        str | None, Query(max_length=200, description="Which value; by default its first that is a number.")
    ] = None,
    since: Since = None,
    until: Until = None,
    points: Annotated[int, Query(ge=1, le=5000, description="Most points.")] = 500,
) -> Readings:
    config = services.config
    return readings_of(lake_of(config), config.lake.analysis, sensor, field, since, until, points)


@router.get(
    "/live",
    response_class=EventStream,
    responses={
        200: {"model": LiveReading, "description": "The `data` of each event `reading`."},
        **answers(401, 403, 422),
    },
    summary="The readings of a sensor, as they come",
    description="Those of the last minute first. The stream ends at sign-out, and when the token is revoked "
    "or expires. Needs the scope `data:read`.",
)
async def live_readings(
    services: ServicesOfApp,
    sensor: _Sensor,
    caller: Annotated[Caller, Depends(allowed(Scope.DATA_READ))],
) -> EventStream:
    return EventStream(services.readings.events(sensor, lambda: caller.may_still(services)))
