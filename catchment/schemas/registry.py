"""The schema registry: versions of subjects on one compacted topic, with ids that follow from content."""

import time

from catchment.errors import SchemaRefused
from catchment.kafka.table import Tables
from catchment.records import Kind
from catchment.schemas.compatibility import Earlier, Level, objections
from catchment.schemas.model import Compatibility, SchemaVersion, compatibility_key, decode
from catchment.schemas.schema import AvroSchema, parse
from catchment.schemas.subjects import Subject, read_subject

LATEST = "latest"


class SchemaRegistry:
    """What is known of schemas at a node. It writes those of its own site; others come with the relay."""

    def __init__(self, site: str, tables: Tables) -> None:
        self._site = site
        self._tables = tables
        self._table = tables.add(Kind.SCHEMAS, decode)

    # Reading

    def subjects(self, deleted: bool = False) -> list[str]:
        """The names of all subjects, those of other sites with their site in front."""
        named = {self.name_of(version): None for version in self.all(deleted)}
        return sorted(named)

    def all(self, deleted: bool = False) -> list[SchemaVersion]:
        """Every version of every subject, sorted by site, subject and version."""
        self._tables.require_current()
        entries = self._table.all().values()
        versions = [entry for entry in entries if isinstance(entry, SchemaVersion)]
        kept = [version for version in versions if deleted or not version.deleted]
        return sorted(kept, key=lambda version: (version.site, version.subject, version.version))

    def versions(self, subject: str, deleted: bool = False) -> list[SchemaVersion]:
        """The versions of a subject that is there, oldest first."""
        found = self._versions(self._read(subject), deleted)
        if not found:
            raise SchemaRefused(f"There is no subject {subject!r}", _LOOK, 40401)
        return found

    def version(self, subject: str, number: int | None = None, deleted: bool = False) -> SchemaVersion:
        """One version of a subject; without a number the latest."""
        versions = self.versions(subject, deleted)
        found = versions[-1] if number is None else next((v for v in versions if v.version == number), None)
        if found is None:
            raise SchemaRefused(f"{subject} has no version {number}", _LOOK, 40402)
        return found

    def by_id(self, schema_id: int) -> list[SchemaVersion]:
        """Every version with this schema, at whichever site; all have the same text."""
        found = [version for version in self.all(deleted=True) if version.id == schema_id]
        if not found:
            raise SchemaRefused(f"There is no schema with the id {schema_id}", _LOOK, 40403)
        return found

    def find(self, subject: str, text: str, deleted: bool = False) -> SchemaVersion:
        """The version of a subject that has this schema."""
        schema = parse(text)
        found = [each for each in self.versions(subject, deleted) if each.text == schema.text]
        if not found:
            raise SchemaRefused(f"{subject} has no version with this schema", _LOOK, 40403)
        return found[-1]

    def name_of(self, version: SchemaVersion) -> str:
        """What the subject of a version is called at this node."""
        return Subject(version.site, version.subject).called(self._site)

    # Compatibility

    def level(self, subject: str | None = None) -> Level | None:
        """The level that was set for a subject, or without one for all others."""
        name = self._read(subject) if subject else Subject(self._site, "")
        entry = self._table.get(compatibility_key(name.site, name.name or None))
        return entry.compatibility if isinstance(entry, Compatibility) else None

    def effective_level(self, subject: str | None = None) -> Level:
        """The level that counts for a subject."""
        own = self.level(subject) if subject else None
        return own or self.level() or Level.BACKWARD

    def set_level(self, level: Level | None, subject: str | None = None) -> None:
        """Sets the level of a subject, or of all others; none takes back what was set."""
        name = self._own(subject).name if subject else None
        entry = Compatibility(site=self._site, subject=name, compatibility=level) if level else None
        self._table.update(compatibility_key(self._site, name), lambda _: entry)

    def objections(self, subject: str, text: str, number: int | None = None) -> list[str]:
        """Why a schema could not become a version of a subject, or not follow one version of it."""
        schema, level = parse(text), self.effective_level(subject)
        if number is None:
            return objections(level, schema, _earlier(self._versions(self._read(subject))))
        return objections(level, schema, _earlier([self.version(subject, number)]))

    # Writing

    def register(self, subject: str, text: str) -> SchemaVersion:
        """Makes a schema the next version of a subject, unless it is one already."""
        with self._tables.lock:
            name, schema = self._own(subject), parse(text)
            versions = self._versions(name)
            present = next((each for each in versions if each.text == schema.text), None)
            if present:
                return present
            self._refuse_collision(schema)
            found = objections(self.effective_level(subject), schema, _earlier(versions))
            if found:
                raise _incompatible(subject, found)
            return self._append(name, schema)

    def delete_subject(self, subject: str, permanent: bool = False) -> list[int]:
        """Deletes all versions of a subject: first softly, and then for good if that is wanted."""
        with self._tables.lock:
            versions = self._versions(self._own(subject), deleted=True)
            alive = [version for version in versions if not version.deleted]
            if not versions:
                raise SchemaRefused(f"There is no subject {subject!r}", _LOOK, 40401)
            if permanent and alive:
                raise SchemaRefused(f"{subject} is not deleted softly yet", _SOFTLY, 40405)
            if not permanent and not alive:
                raise SchemaRefused(f"{subject} is deleted softly already", _PERMANENTLY, 40404)
            for version in versions if permanent else alive:
                self._delete(version, permanent)
            return [version.version for version in (versions if permanent else alive)]

    def delete_version(self, subject: str, number: int | None, permanent: bool = False) -> int:
        """Deletes one version of a subject, softly or, after that, for good."""
        with self._tables.lock:
            self._own(subject)
            version = self.version(subject, number, deleted=number is not None)
            if permanent and not version.deleted:
                raise SchemaRefused(
                    f"Version {version.version} of {subject} is not deleted softly yet", _SOFTLY, 40407
                )
            if not permanent and version.deleted:
                raise SchemaRefused(
                    f"Version {version.version} of {subject} is deleted softly already", _PERMANENTLY, 40406
                )
            self._delete(version, permanent)
            return version.version

    def _append(self, name: Subject, schema: AvroSchema) -> SchemaVersion:
        numbers = [each.version for each in self._versions(name, deleted=True)]
        version = SchemaVersion(
            site=self._site,
            subject=name.name,
            version=max(numbers, default=0) + 1,
            id=schema.id,
            text=schema.text,
            updated_ms=time.time_ns() // 1_000_000,
        )
        self._table.update(version.key, lambda _: version)
        return version

    def _delete(self, version: SchemaVersion, permanent: bool) -> None:
        left = None if permanent else version.model_copy(update={"deleted": True})
        self._table.update(version.key, lambda _: left)

    def _refuse_collision(self, schema: AvroSchema) -> None:
        others = [
            each for each in self.all(deleted=True) if each.id == schema.id and each.text != schema.text
        ]
        if others:
            raise SchemaRefused(
                f"The id {schema.id} of this schema is that of a different one, of {self.name_of(others[0])}",
                "Change anything in the schema, for example its doc: the id follows from its content.",
                42201,
            )

    def _versions(self, name: Subject, deleted: bool = False) -> list[SchemaVersion]:
        return [version for version in self.all(deleted) if name.includes(version)]

    def _read(self, subject: str) -> Subject:
        return read_subject(subject, self._site)

    def _own(self, subject: str) -> Subject:
        name = self._read(subject)
        if name.site != self._site:
            raise SchemaRefused(
                f"{subject} belongs to the site {name.site}", "Change it there; it is relayed to here.", 42205
            )
        return name


def read_version(text: str) -> int | None:
    """The number of a version as it stands in addresses; none for the latest."""
    if text in (LATEST, "-1"):
        return None
    if not text.isdecimal() or not 1 <= int(text) < 2**31:
        raise SchemaRefused(
            f"{text!r} is not a version", "Use a number from 1 to 2147483647, or latest.", 42202
        )
    return int(text)


def _earlier(versions: list[SchemaVersion]) -> list[Earlier]:
    return [Earlier(f"version {version.version}", parse(version.text)) for version in versions]


def _incompatible(subject: str, found: list[str]) -> SchemaRefused:
    return SchemaRefused(
        f"The schema is not compatible with earlier ones of {subject}: {'; '.join(found)}",
        "Give new fields a default, keep the types of those there are, or set another compatibility level.",
        409,
    )


_LOOK = "GET /subjects lists the subjects, and GET /subjects/SUBJECT/versions their versions."
_SOFTLY = "Delete it without permanent=true first."
_PERMANENTLY = "Delete it with permanent=true to remove it for good."
