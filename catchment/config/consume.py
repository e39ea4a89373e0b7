"""What can be set of consumers."""

from enum import StrEnum
from pathlib import Path

from pydantic import Field

from catchment.config.section import Name, Section


class Mode(StrEnum):
    """How the records of a topic are spread over the consumers of a group."""

    EXCLUSIVE = "exclusive"
    FAILOVER = "failover"
    SHARED = "shared"
    KEY_SHARED = "key-shared"

    @property
    def one_at_a_time(self) -> bool:
        """Whether a single consumer of the group receives, and all others none."""
        return self in (Mode.EXCLUSIVE, Mode.FAILOVER)


class Start(StrEnum):
    """Where a group begins that has never committed anything."""

    EARLIEST = "earliest"
    LATEST = "latest"


class To(StrEnum):
    """What kind of place `catchment consume` hands records on to."""

    STDOUT = "stdout"
    FILE = "file"
    HTTP = "http"
    EXEC = "exec"


class ConsumeSettings(Section):
    """How `catchment consume` and the library of the same name take records and acknowledge them."""

    group: str = Field(
        "default",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$",
        description="The group whose members share the work and whose place in the topic is remembered.",
    )
    mode: Mode = Field(
        Mode.KEY_SHARED,
        description="`exclusive`: one consumer, a second is refused; `failover`: one, the others stand by; "
        "`shared`: every record to any worker; `key-shared`: all records of a key to one worker, in order.",
    )
    name: Name | None = Field(
        None, description="What Kafka calls this consumer in its lists; the identity's name if it is not set."
    )
    workers: int = Field(1, ge=1, le=256, description="Workers that take and hand on records side by side.")
    prefetch_records: int = Field(
        1000,
        ge=1,
        le=1_000_000,
        description="Records that are fetched ahead of each partition; also the most that a batch has.",
    )
    ack_group_records: int = Field(
        10_000, ge=1, description="After so many records handed on, a worker acknowledges them to Kafka."
    )
    ack_group_ms: float = Field(
        100, ge=0, le=60_000, description="After so long it acknowledges even if there are fewer."
    )
    ack_timeout_s: float = Field(
        60,
        ge=10,
        le=86_400,
        description="What a worker has not handled after so long goes to another one. "
        "In `shared` mode Kafka takes 15 to 60 s.",
    )
    start: Start = Field(
        Start.EARLIEST, description="Where a group begins that has never acknowledged anything."
    )
    http_ca_file: Path | None = Field(
        None, description="Authority of the HTTPS server to send to; the system's authorities if not set."
    )
    http_token_file: Path | None = Field(
        None, description="File with a token that is sent to that server as `Authorization: Bearer`."
    )
