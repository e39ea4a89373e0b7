"""The state of the node and of each of its components."""

from fastapi import APIRouter, Depends

from catchment.api.access import allowed
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.node.status import NodeStatus, ask_node
from catchment.security.tokens import Scope

router = APIRouter(tags=["status"])


@router.get(
    "/api/v1/status",
    dependencies=[Depends(allowed(Scope.STATUS_READ))],
    responses=answers(401, 403, 503),
    summary="State of the node",
    description="What the supervisor reports. Needs the scope `status:read`.",
)
def status(services: ServicesOfApp) -> NodeStatus:
    return ask_node(services.config)
