"""What stands on the topic of schemas: versions of subjects, and how versions must go together."""

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from catchment.config.section import Name
from catchment.registry.model import Subject
from catchment.schemas.compatibility import Level


class SchemaVersion(BaseModel):
    """One version of a subject."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", validate_by_alias=True, validate_by_name=True, serialize_by_alias=True
    )

    site: Name
    subject: Subject
    version: int = Field(ge=1)
    id: int = Field(ge=1, lt=2**31)
    text: str = Field(alias="schema")
    deleted: bool = False
    updated_ms: int = 0

    @property
    def key(self) -> str:
        return f"{self.site}/{self.subject}/{self.version}"


class Compatibility(BaseModel):
    """The level of one subject, or without one that of all others."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    site: Name
    subject: Subject | None = None
    compatibility: Level


SchemaEntry = SchemaVersion | Compatibility
_ENTRY: TypeAdapter[SchemaEntry] = TypeAdapter(SchemaEntry)


def decode(value: bytes) -> SchemaEntry:
    """An entry from its bytes on the topic."""
    return _ENTRY.validate_json(value)


def compatibility_key(site: str, subject: str | None) -> str:
    """No version is named like this, so that both can stand on one topic."""
    return f"{site}/{subject}/compatibility" if subject else f"{site}/compatibility"
