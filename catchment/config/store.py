"""What can be set of the fast store: where PostgreSQL is, and which topics go there."""

from enum import StrEnum
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit

from pydantic import Field, SecretStr, model_validator

from catchment.config.alerts import is_loopback, reveal
from catchment.config.section import Name, Section
from catchment.records import Kind

DEFAULT_PORT = 5432
_EXAMPLE = "postgresql://catchment@db.example.org:5432/catchment"


class StoredTopic(StrEnum):
    """What a fast store can keep."""

    MEASUREMENTS = Kind.MEASUREMENTS.value
    EVENTS = Kind.EVENTS.value

    @property
    def kind(self) -> Kind:
        return Kind(self.value)


class PostgresSettings(Section):
    """A PostgreSQL database that rows go to within milliseconds."""

    url: str = Field(
        description=f"Where the database is, and who signs in: `{_EXAMPLE}`. TLS with a checked "
        "certificate unless it is on this machine."
    )
    password: SecretStr | None = Field(None, description="The password; write `${VARIABLE}`.")
    password_file: Path | None = Field(None, description="Instead: a file that holds the password.")
    ca_file: Path | None = Field(
        None, description="Authority of the server's certificate; the system's authorities if it is not set."
    )
    schema_name: str = Field(
        "catchment",
        pattern=r"^[a-z_][a-z0-9_]{0,56}$",
        description="Schema of the tables; what the store keeps of itself is in one with `_store` added.",
    )
    topics: list[StoredTopic] = Field(
        [StoredTopic.MEASUREMENTS, StoredTopic.EVENTS], min_length=1, description="What goes there."
    )
    flush_ms: int = Field(
        8, ge=0, le=10_000, description="How long a row may wait for others to share its transaction."
    )
    batch_rows: int = Field(5_000, ge=1, le=100_000, description="Most rows of a transaction.")
    queue_rows: int = Field(
        20_000, ge=1, le=1_000_000, description="Rows that may wait in memory; more wait in Kafka."
    )
    retry_max_s: float = Field(
        15, gt=0, le=3600, description="Longest pause before a database that is away is tried again."
    )

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or DEFAULT_PORT

    @property
    def database(self) -> str:
        return unquote(urlsplit(self.url).path.lstrip("/"))

    @property
    def user(self) -> str:
        return unquote(urlsplit(self.url).username or "")

    @property
    def encrypted(self) -> bool:
        """Whether TLS is used: always, but for a database on this machine without an authority of its own."""
        return self.ca_file is not None or not is_loopback(self.host)

    def reveal_password(self) -> str:
        """The password, for whoever connects."""
        return reveal(self.password, self.password_file)

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        parts = urlsplit(self.url)
        if parts.scheme not in ("postgresql", "postgres") or not parts.hostname or not self.user:
            raise ValueError(f"url names no database and user: write one like {_EXAMPLE}")
        if not self.database or "/" in self.database:
            raise ValueError(f"url names no database: write one like {_EXAMPLE}")
        if parts.password is not None:
            raise ValueError("url has a password in it, which would be seen: use password or password_file")
        if parts.query or parts.fragment:
            raise ValueError("url has options after the database: leave them out, TLS is always on")
        if self.password is not None and self.password_file is not None:
            raise ValueError("password and password_file are both set: leave one of them out")
        return self


class StoreSettings(Section):
    """Databases that measurements and events go to beside the lake."""

    postgres: dict[Name, PostgresSettings] = Field(
        default_factory=dict, description="Fast stores, by a name of your choice; none by default."
    )
