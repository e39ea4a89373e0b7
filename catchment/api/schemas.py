"""Schemas at a glance; `/schema-registry` has the whole of Confluent's API."""

from fastapi import APIRouter
from pydantic import BaseModel, Field

from catchment.api.declared import LISTED, READ
from catchment.api.services import ServicesOfApp

router = APIRouter(tags=["registry"])


class SubjectSummary(BaseModel):
    """A subject with its latest schema."""

    subject: str
    versions: list[int]
    id: int = Field(description="Of the latest schema.")
    compatibility: str = Field(description="What a further version has to be.")
    text: str = Field(serialization_alias="schema", description="The latest schema, as JSON in a text.")


class SubjectList(BaseModel):
    """All subjects, sorted by name."""

    items: list[SubjectSummary]


@router.get(
    "/api/v1/schemas",
    dependencies=READ,
    responses=LISTED,
    summary="All subjects with their latest schema",
    description="Needs the scope `registry:read`.",
)
def list_schemas(services: ServicesOfApp) -> SubjectList:
    registry = services.schemas
    items = []
    for subject in registry.subjects():
        versions = registry.versions(subject)
        items.append(
            SubjectSummary(
                subject=subject,
                versions=[version.version for version in versions],
                id=versions[-1].id,
                compatibility=registry.effective_level(subject),
                text=versions[-1].text,
            )
        )
    return SubjectList(items=items)
