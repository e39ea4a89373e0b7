"""Subjects, their versions, and schemas by their ids."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from catchment.api.schema_access import READ, WRITE
from catchment.api.services import ServicesOfApp
from catchment.errors import SchemaRefused
from catchment.schemas.model import SchemaVersion
from catchment.schemas.registry import SchemaRegistry, read_version

router = APIRouter()

Deleted = Annotated[bool, Query(description="Also those that are softly deleted.")]
Permanent = Annotated[bool, Query(description="For good; only after it was softly deleted.")]
AVRO = "AVRO"


class OfferedSchema(BaseModel):
    """A schema as clients send it. What we have no use for is passed over."""

    model_config = ConfigDict(extra="ignore")

    text: str = Field(alias="schema")
    kind: str = Field(AVRO, alias="schemaType")
    references: list[Any] | None = None

    def avro(self) -> str:
        """The text, if it is a schema of the kind that is kept here."""
        if self.kind != AVRO:
            raise SchemaRefused(f"Schemas of type {self.kind} are not kept here", "Use Avro.", 42201)
        if self.references:
            raise SchemaRefused("References between schemas are not kept here", "Write it out.", 42201)
        return self.text


def described(registry: SchemaRegistry, version: SchemaVersion) -> dict[str, Any]:
    """A version as the registry's clients read it."""
    return {
        "subject": registry.name_of(version),
        "version": version.version,
        "id": version.id,
        "schema": version.text,
    }


@router.get("/", dependencies=READ)
def root() -> dict[str, Any]:
    return {}


@router.get("/schemas/types", dependencies=READ)
def schema_types() -> list[str]:
    return [AVRO]


@router.get("/contexts", dependencies=READ)
def contexts(services: ServicesOfApp) -> list[str]:
    sites = {version.site for version in services.schemas.all()} - {services.config.site}
    return [".", *(f".{site}" for site in sorted(sites))]


@router.get("/subjects", dependencies=READ)
def subjects(
    services: ServicesOfApp,
    prefix: Annotated[str, Query(alias="subjectPrefix")] = "",
    deleted: Deleted = False,
    deleted_only: Annotated[bool, Query(alias="deletedOnly")] = False,
) -> list[str]:
    known = services.schemas.subjects(deleted or deleted_only)
    alive = set(services.schemas.subjects()) if deleted_only else set()
    wanted = "" if prefix == ":*:" else prefix
    return [name for name in known if name.startswith(wanted) and name not in alive]


@router.get("/schemas", dependencies=READ)
def schemas(
    services: ServicesOfApp,
    prefix: Annotated[str, Query(alias="subjectPrefix")] = "",
    deleted: Deleted = False,
    latest_only: Annotated[bool, Query(alias="latestOnly")] = False,
) -> list[dict[str, Any]]:
    found = [described(services.schemas, version) for version in services.schemas.all(deleted)]
    kept = {(each["subject"], 0 if latest_only else each["version"]): each for each in found}
    return [each for each in kept.values() if each["subject"].startswith(prefix)]


@router.get("/schemas/ids/{schema_id}", dependencies=READ)
def schema_by_id(services: ServicesOfApp, schema_id: int) -> dict[str, Any]:
    return {"schema": services.schemas.by_id(schema_id)[0].text}


@router.get("/schemas/ids/{schema_id}/schema", dependencies=READ)
def text_by_id(services: ServicesOfApp, schema_id: int) -> Response:
    return _plain(services.schemas.by_id(schema_id)[0])


@router.get("/schemas/ids/{schema_id}/subjects", dependencies=READ)
def subjects_by_id(services: ServicesOfApp, schema_id: int, deleted: Deleted = False) -> list[str]:
    found = services.schemas.by_id(schema_id)
    return sorted({services.schemas.name_of(each) for each in found if deleted or not each.deleted})


@router.get("/schemas/ids/{schema_id}/versions", dependencies=READ)
def versions_by_id(services: ServicesOfApp, schema_id: int, deleted: Deleted = False) -> list[dict[str, Any]]:
    found = services.schemas.by_id(schema_id)
    return [
        {"subject": services.schemas.name_of(each), "version": each.version}
        for each in found
        if deleted or not each.deleted
    ]


@router.get("/subjects/{subject}/versions", dependencies=READ)
def versions(services: ServicesOfApp, subject: str, deleted: Deleted = False) -> list[int]:
    return [each.version for each in services.schemas.versions(subject, deleted)]


@router.get("/subjects/{subject}/versions/{version}", dependencies=READ)
def version(services: ServicesOfApp, subject: str, version: str, deleted: Deleted = False) -> dict[str, Any]:
    found = services.schemas.version(subject, read_version(version), deleted)
    return described(services.schemas, found)


@router.get("/subjects/{subject}/versions/{version}/schema", dependencies=READ)
def text_of_version(
    services: ServicesOfApp, subject: str, version: str, deleted: Deleted = False
) -> Response:
    return _plain(services.schemas.version(subject, read_version(version), deleted))


@router.get("/subjects/{subject}/versions/{version}/referencedby", dependencies=READ)
def referenced_by(services: ServicesOfApp, subject: str, version: str) -> list[int]:
    services.schemas.version(subject, read_version(version))
    return []


@router.post("/subjects/{subject}/versions", dependencies=WRITE)
def register(services: ServicesOfApp, subject: str, offered: OfferedSchema) -> dict[str, Any]:
    with services.tables.lock:
        services.registry.refuse_unless_measured(subject, offered.avro())
        return {"id": services.schemas.register(subject, offered.avro()).id}


@router.post("/subjects/{subject}", dependencies=READ)
def find(
    services: ServicesOfApp, subject: str, offered: OfferedSchema, deleted: Deleted = False
) -> dict[str, Any]:
    found = services.schemas.find(subject, offered.avro(), deleted)
    return described(services.schemas, found)


@router.delete("/subjects/{subject}", dependencies=WRITE)
def delete_subject(services: ServicesOfApp, subject: str, permanent: Permanent = False) -> list[int]:
    with services.tables.lock:
        services.registry.refuse_if_subject_used(subject)
        return services.schemas.delete_subject(subject, permanent)


@router.delete("/subjects/{subject}/versions/{version}", dependencies=WRITE)
def delete_version(services: ServicesOfApp, subject: str, version: str, permanent: Permanent = False) -> int:
    with services.tables.lock:
        if not permanent and len(services.schemas.versions(subject)) == 1:
            services.registry.refuse_if_subject_used(subject)
        return services.schemas.delete_version(subject, read_version(version), permanent)


def _plain(version: SchemaVersion) -> Response:
    return Response(version.text, media_type="application/json")
