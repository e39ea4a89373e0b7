"""Which consumers may read from Kafka, each by name and the topics that it may read."""

from pathlib import Path

import orjson
from pydantic import BaseModel, TypeAdapter

from catchment.errors import Conflict, NotFound
from catchment.records import Kind, check_name
from catchment.security.authority import Authority, Credentials, Identity
from catchment.security.files import exclusive, write_private

PARTY_PREFIX = "consumer."
# A consumer of this name would share the groups of the command line.
RESERVED = "operator"


class Grant(BaseModel, frozen=True):
    """What a consumer may read; nothing once it is removed."""

    topics: tuple[Kind, ...]
    removed: bool = False


_REGISTER = TypeAdapter(dict[str, Grant])


class Consumers:
    """The register of consumers.

    Kafka knows a consumer by its name alone, so a certificate that was given away counts for as long as the
    name has rights. A removed name is therefore remembered, and never given to anybody else.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, name: str, topics: tuple[Kind, ...], authority: Authority) -> Identity:
        """Registers a consumer, or changes its topics, and issues its certificate."""
        self._grant(name, topics)
        return authority.identity(PARTY_PREFIX + name)

    def hand_out(self, name: str, topics: tuple[Kind, ...], authority: Authority) -> Credentials | None:
        """Registers a consumer, with a key that is kept nowhere here; of a known one only topics change."""
        return authority.hand_out(PARTY_PREFIX + name) if self._grant(name, topics) else None

    def hand_out_again(self, name: str, authority: Authority) -> Credentials:
        """Another certificate for a registered consumer; those before count until they expire."""
        self.check(name)
        return authority.hand_out(PARTY_PREFIX + name)

    def remove(self, name: str, authority: Authority) -> None:
        """Takes all rights from a consumer, for good, and deletes its certificate."""
        with exclusive(self._lock):
            self.check(name)
            self._save({**self._read(), name: Grant(topics=(), removed=True)})
        authority.forget(PARTY_PREFIX + name)

    def grants(self) -> dict[str, Grant]:
        """The consumers there are, by name."""
        return {name: grant for name, grant in sorted(self._read().items()) if not grant.removed}

    def check(self, name: str) -> None:
        """Refuses a name that is not registered."""
        if name not in self.grants():
            raise NotFound(
                f"There is no consumer {name!r}", "`catchment consumer list` shows those there are."
            )

    def _grant(self, name: str, topics: tuple[Kind, ...]) -> bool:
        """Lets a consumer read these topics; says whether it is new."""
        check_name("consumer", name)
        if name == RESERVED:
            raise Conflict(f"{name!r} is the command line's own name", "Take another name.")
        with exclusive(self._lock):
            register = self._read()
            if name in register and register[name].removed:
                raise Conflict(
                    f"A consumer {name!r} was removed, and its certificate would count again",
                    "Take another name.",
                )
            self._save({**register, name: Grant(topics=topics)})
        return name not in register

    @property
    def _lock(self) -> Path:
        return self._file.with_suffix(".lock")

    def _read(self) -> dict[str, Grant]:
        try:
            return _REGISTER.validate_json(self._file.read_bytes())
        except FileNotFoundError:
            return {}

    def _save(self, register: dict[str, Grant]) -> None:
        content = {name: grant.model_dump(mode="json") for name, grant in register.items()}
        write_private(self._file, orjson.dumps(content, option=orjson.OPT_INDENT_2))
