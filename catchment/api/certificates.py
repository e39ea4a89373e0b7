"""Until when certificates are valid."""

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from catchment.api.access import allowed
from catchment.api.problems import answers
from catchment.api.services import ServicesOfApp
from catchment.security.certificates import CertificateSummary, certificates
from catchment.security.tokens import Scope

router = APIRouter(tags=["sites"])


class CertificateList(BaseModel):
    """Certificates, the one that expires first first."""

    items: list[CertificateSummary]


@router.get(
    "/api/v1/certificates",
    dependencies=[Depends(allowed(Scope.STATUS_READ))],
    responses=answers(401, 403),
    summary="Certificates and their expiry",
    description="Of the node's parts, its devices and consumers, and of the sites of a centre. "
    "Needs the scope `status:read`.",
)
def list_certificates(services: ServicesOfApp) -> CertificateList:
    paths = services.config.paths
    return CertificateList(items=certificates(paths.identities, paths.sites.with_suffix("")))
