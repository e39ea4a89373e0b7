"""What can be set of the lake."""

from typing import Annotated

from pydantic import Field, SecretStr, StringConstraints

from catchment.config.section import Section
from catchment.records import Kind

LakeUrl = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^\s]+$")]


class MaintenanceSettings(Section):
    """How the lake is kept tidy."""

    interval_minutes: float = Field(
        10, gt=0, le=1440, description="How often the lake looks after its files."
    )
    compact_files: int = Field(
        40, ge=2, description="Small files of a day that are made into large ones, when there are so many."
    )
    file_mib: int = Field(128, ge=1, le=4096, description="Size of a large file.")
    keep_hours: int = Field(
        168,
        ge=1,
        description="How long earlier versions of a table can be read; then their files are deleted.",
    )


class AnalysisSettings(Section):
    """Limits of questions that are put to the lake through the API."""

    timeout_s: float = Field(60, gt=0, le=3600, description="A question that takes longer is stopped.")
    most_rows: int = Field(100_000, ge=1, description="Most rows of an answer in JSON.")
    memory_mib: int = Field(512, ge=64, description="Most memory that a question may take.")


class LakeSettings(Section):
    """The lake: Delta tables of what is on the topics, for good."""

    enabled: bool = Field(True, description="Whether this node fills a lake.")
    url: LakeUrl | None = Field(
        None,
        description="Where the tables are: a directory, or an address such as `s3://bucket/path` or "
        "`abfss://container@account.dfs.core.windows.net/path`. By default `lake` in the data directory.",
    )
    storage_options: dict[str, SecretStr] = Field(
        default_factory=dict,
        description="Keys and settings of object storage, as the `deltalake` package names them.",
    )
    topics: list[Kind] = Field(
        [Kind.RECORDS, Kind.MEASUREMENTS, Kind.EVENTS, Kind.ALERTS, Kind.DEADLETTER],
        min_length=1,
        description="Topics of which the lake has tables, by kind.",
    )
    interval_s: float = Field(3, ge=0.1, le=3600, description="How often what is new is taken.")
    batch_records: int = Field(500_000, ge=1_000, description="Most records that are taken at once.")
    schema_wait_s: float = Field(
        30,
        ge=0,
        description="How long a measurement waits for its schema, which may come later from a site, before "
        "it goes to the dead letters.",
    )
    maintenance: MaintenanceSettings = MaintenanceSettings()
    analysis: AnalysisSettings = AnalysisSettings()
