"""Declarations of one kind: looked up at any site, written at one's own, each change a version."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from catchment.errors import Conflict, NotFound, VersionChanged
from catchment.kafka.table import Tables
from catchment.records import Kind
from catchment.registry.model import Declared, Spec, key_of

Thing = TypeVar("Thing", bound=Declared)


@dataclass(frozen=True)
class Expected:
    """What a caller believes to be there: a version, nothing at all, or whatever it is."""

    version: int | None = None
    absent: bool = False

    def check(self, what: str, present: Declared | None) -> None:
        found = present.version if present else None
        if self.absent and found is not None:
            raise VersionChanged(f"{what} is there already, as version {found}", "Leave out If-None-Match.")
        if self.version is not None and found != self.version:
            is_now = f"is of version {found}" if found else "is not there"
            raise VersionChanged(f"{what} {is_now}, not of version {self.version}", "Read it again first.")


ANYTHING = Expected()


class Shelf(Generic[Thing]):
    """Everything of one kind that this node knows."""

    def __init__(self, what: str, site: str, tables: Tables, kind: Kind, model: type[Thing]) -> None:
        self._what = what
        self._site = site
        self._tables = tables
        self._model = model
        self._table = tables.add(kind, model.model_validate_json)

    def all(self, site: str | None = None) -> list[Thing]:
        """Everything, or all of one site, sorted by site and id."""
        self._tables.require_current()
        found = [each for each in self._table.all().values() if site in (None, each.site)]
        return sorted(found, key=lambda each: (each.site, each.id))

    def own(self) -> list[Thing]:
        """What was declared at this node."""
        return self.all(self._site)

    def find(self, identifier: str, site: str | None = None) -> Thing | None:
        self._tables.require_current()
        return self._table.get(key_of(site or self._site, identifier))

    def get(self, identifier: str, site: str | None = None) -> Thing:
        """One of a site, by default this node's."""
        found = self.find(identifier, site)
        if found is None:
            raise NotFound(
                f"There is no {self._what} {identifier!r} at {site or self._site}",
                f"`catchment register {self._what} list` shows those there are.",
            )
        return found

    def put(self, identifier: str, spec: Spec, expected: Expected = ANYTHING) -> Thing:
        """Declares it anew, or changes it; what is the same already stays as it is."""

        def change(present: Thing | None) -> Thing:
            expected.check(f"The {self._what} {identifier!r}", present)
            return self._next(identifier, spec, present)

        return self._written(identifier, change)

    def delete(self, identifier: str, expected: Expected = ANYTHING) -> None:
        """Deletes it for good."""

        def change(present: Thing | None) -> None:
            expected.check(f"The {self._what} {identifier!r}", present)
            self._require_own(identifier)

        self._table.update(key_of(self._site, identifier), change)

    def _next(self, identifier: str, spec: Spec, present: Thing | None) -> Thing:
        fields = {**spec.model_dump(), "site": self._site, "id": identifier}
        if present:
            kept = {"version": present.version, "updated_ms": present.updated_ms}
            if self._model.model_validate({**fields, **kept}) == present:
                return present
        changed = {
            "version": present.version + 1 if present else 1,
            "updated_ms": time.time_ns() // 1_000_000,
        }
        return self._model.model_validate({**fields, **changed})

    def _written(self, identifier: str, change: Callable[[Thing | None], Thing]) -> Thing:
        written = self._table.update(key_of(self._site, identifier), change)
        assert written is not None
        return written

    def _require_own(self, identifier: str) -> None:
        elsewhere = [each.site for each in self.all() if each.id == identifier]
        if elsewhere and self._site not in elsewhere:
            raise Conflict(
                f"The {self._what} {identifier!r} belongs to {' and '.join(elsewhere)}",
                "Change it at its site; it is relayed to here.",
            )
        self.get(identifier)
