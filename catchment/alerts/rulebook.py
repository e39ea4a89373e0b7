"""The rules of this node: declared through the API alone, each change a version."""

from collections.abc import Collection

from catchment.alerts.rules import Rule, RuleSpec
from catchment.errors import InvalidRule, NotFound
from catchment.kafka.table import Tables
from catchment.records import Kind
from catchment.registry.shelf import ANYTHING, Expected, Shelf


class RuleBook:
    """All rules, and the one way to change them."""

    def __init__(self, site: str, tables: Tables, channels: Collection[str]) -> None:
        self._shelf = Shelf("rule", site, tables, Kind.RULES, Rule)
        self._channels = channels

    def all(self) -> list[Rule]:
        """Every rule, sorted by its id."""
        return self._shelf.own()

    def get(self, name: str) -> Rule:
        found = self._shelf.find(name)
        if found is None:
            raise NotFound(f"There is no rule {name!r}", "`catchment rules list` shows those there are.")
        return found

    def put(self, name: str, spec: RuleSpec, expected: Expected = ANYTHING) -> Rule:
        """Declares or changes a rule; the channels that it names must be there."""
        unknown = [channel for channel in spec.channels if channel not in self._channels]
        if unknown:
            known = ", ".join(sorted(self._channels)) or "none"
            raise InvalidRule(
                f"The rule {name} is wrong: channels: {', '.join(unknown)} is not configured",
                f"Add it to alerts.channels, or name one that is there: {known}.",
            )
        return self._shelf.put(name, spec, expected)

    def delete(self, name: str, expected: Expected = ANYTHING) -> None:
        """Removes a rule; what it has under way is ended."""
        expected.check(f"The rule {name!r}", self.get(name))
        self._shelf.delete(name, expected)
