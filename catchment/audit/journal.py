"""Where entries wait on disk until they are on the topic: neither a kill nor a broker that is away loses one.

Whoever changes something appends a line: the API, and commands that work on the data directory, also while no
node runs. One process moves the lines to Kafka: it sets the file aside, sends it, and deletes it when Kafka
has all of it. What a crash leaves aside is sent again; entries have ids, so that readers see each once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from catchment.audit.entry import AuditEntry
from catchment.security.files import exclusive


class AuditJournal:
    """The lines of one data directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._waiting = directory / "waiting.jsonl"
        self._aside = directory / "aside.jsonl"

    def append(self, entry: AuditEntry) -> None:
        """Takes microseconds, and survives the end of this process."""
        with exclusive(self._lock):
            with self._waiting.open("ab") as file:
                file.write(entry.model_dump_json().encode() + b"\n")
            self._waiting.chmod(0o600)

    @contextmanager
    def batch(self) -> Iterator[list[AuditEntry]]:
        """What waits now; forgotten when the block ends without an error."""
        with exclusive(self._directory / "sending.lock"):
            with exclusive(self._lock):
                if not self._aside.exists() and self._waiting.exists():
                    self._waiting.rename(self._aside)
            yield _entries(self._aside)
            self._aside.unlink(missing_ok=True)

    @property
    def has_waiting(self) -> bool:
        return self._waiting.exists() or self._aside.exists()

    @property
    def _lock(self) -> Path:
        return self._directory / "waiting.lock"


def _entries(file: Path) -> list[AuditEntry]:
    try:
        lines = file.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    return [entry for line in lines if (entry := _parsed(line))]


def _parsed(line: bytes) -> AuditEntry | None:
    """Nothing for a line that a crash of the machine cut off."""
    try:
        return AuditEntry.model_validate_json(line)
    except ValidationError:
        return None
