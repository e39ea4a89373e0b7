"""What changes of twins mean, said in the plainest way: from changes to states, updates and outcomes.

It keeps whole lists where the operator keeps numbers, and compares values as Python does.
"""

import math
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from catchment.twins.model import Action, Change, Refusal, TwinType, Value, ValueChange, ValueKind, ValueSpec


class Refused(Exception):
    """A change that is not applied."""


@dataclass(frozen=True)
class Sent:
    """A change with what its stamp says."""

    source: str
    epoch: int
    sequence: int
    change: Change


@dataclass
class Told:
    """All that came of changes, in its order: what is on the topics."""

    twins: list[dict[str, Any] | int] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[dict[str, Any]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


class Model:
    """One object, and all that happened to it."""

    def __init__(self, types: dict[str, TwinType]) -> None:
        self.types = types
        self.twin: dict[str, Any] | None = None
        self.version = 0
        self.heard: list[tuple[str, int, int]] = []
        self.was_invalid = False
        self.told = Told()

    def take(self, sent: Sent) -> None:
        """Applies a change, unless it is one that came before."""
        if any(s == sent.source and (e, n) >= (sent.epoch, sent.sequence) for s, e, n in self.heard):
            return
        self.heard.append((sent.source, sent.epoch, sent.sequence))
        change = sent.change
        try:
            what, changed = self._apply(change)
        except Refused as why:
            self._refuse(change, *why.args)
            return
        self.was_invalid = False
        if change.change.notify is not None:
            self.told.notices.append(change.change.notify)
        if what:
            self._tell(change, what, changed)
        if change.confirm:
            self._outcome(change, "applied" if what else "unchanged")

    def _apply(self, change: Change) -> tuple[str, dict[str, Value | None]]:
        wish, twin = change.change, self.twin
        if twin is None:
            return self._make(change)
        declared = self.types.get(twin["type"])
        if change.user != twin["owner"] and not (declared and is_writer(declared, change.user)):
            raise Refused(Refusal.NOT_PERMITTED)
        if wish.if_version not in (None, self.version):
            raise Refused(Refusal.VERSION_CHANGED)
        if wish.action is Action.DELETE:
            return "deleted", {}
        if wish.action is Action.MARK_DELETED:
            return ("", {}) if "deleted_ms" in twin else ("marked-deleted", {})
        is_marked = "deleted_ms" in twin
        if is_marked and wish.action is Action.CHANGE:
            raise Refused(Refusal.DELETED)
        if not is_marked and wish.action is Action.CREATE:
            raise Refused(Refusal.EXISTS)
        if wish.type not in (None, twin["type"]):
            raise Refused(Refusal.TYPE_DIFFERS)
        if declared is None:
            raise Refused(Refusal.UNKNOWN_TYPE)
        changed = changed_values(declared, twin["values"], wish.values)
        if is_marked:
            check_required(declared, merged(twin["values"], changed))
            return "created", changed
        return ("changed" if changed else ""), changed

    def _make(self, change: Change) -> tuple[str, dict[str, Value | None]]:
        wish = change.change
        if wish.action not in (Action.CREATE, Action.PUT):
            raise Refused(Refusal.NOT_FOUND)
        declared = self.types.get(wish.type or "")
        if declared is None:
            raise Refused(Refusal.UNKNOWN_TYPE)
        if not is_writer(declared, change.user):
            raise Refused(Refusal.NOT_PERMITTED)
        if wish.if_version is not None:
            raise Refused(Refusal.VERSION_CHANGED)
        changed = changed_values(declared, {}, wish.values)
        check_required(declared, merged({}, changed))
        return "created", changed

    def _tell(self, change: Change, what: str, changed: dict[str, Value | None]) -> None:
        self.version += 1
        before = self.twin or {
            "site": change.site,
            "id": change.id,
            "type": change.change.type,
            "owner": change.user,
            "created_ms": change.at_ms,
            "values": {},
        }
        now = {"version": self.version, "updated_ms": change.at_ms, "transaction": change.transaction}
        after = {**before, **now, "values": merged(before["values"], changed)}
        if what == "marked-deleted":
            after["deleted_ms"] = change.at_ms
        elif what == "created":
            after.pop("deleted_ms", None)
        self.twin = None if what == "deleted" else after
        self.told.twins.append(self.version if what == "deleted" else after)
        self.told.history.append(
            {
                "site": change.site,
                "id": change.id,
                "type": before["type"],
                "version": self.version,
                "what": what,
                "at_ms": change.at_ms,
                "transaction": change.transaction,
                "user": change.user,
                "values": changed,
            }
        )

    def _refuse(self, change: Change, refusal: Refusal) -> None:
        self._outcome(change, "refused", refusal)
        if refusal is Refusal.INVALID_VALUE and not change.user.startswith("token/"):
            if not self.was_invalid:
                self.told.notices.append("refused")
            self.was_invalid = True

    def _outcome(self, change: Change, result: str, refusal: Refusal | None = None) -> None:
        self.told.outcomes.append(
            {
                "transaction": change.transaction,
                "user": change.user,
                "result": result,
                "version": self.version if self.twin else None,
                "refusal": refusal,
            }
        )


def is_writer(declared: TwinType, user: str) -> bool:
    return any(fnmatchcase(user, glob) for glob in declared.writers)


def merged(values: dict[str, Value], changed: dict[str, Value | None]) -> dict[str, Value]:
    return {name: value for name, value in {**values, **changed}.items() if value is not None}


def check_required(declared: TwinType, values: dict[str, Value]) -> None:
    if any(spec.required and name not in values for name, spec in declared.values.items()):
        raise Refused(Refusal.MISSING_VALUE)


def changed_values(
    declared: TwinType, values: dict[str, Value], wishes: dict[str, ValueChange]
) -> dict[str, Value | None]:
    after = {name: changed_value(declared, name, values.get(name), wish) for name, wish in wishes.items()}
    return {name: value for name, value in after.items() if not same(values.get(name), value)}


def same(one: Value | None, other: Value | None) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def changed_value(declared: TwinType, name: str, before: Value | None, wish: ValueChange) -> Value | None:
    spec = declared.values.get(name)
    if spec is None and not declared.open:
        raise Refused(Refusal.UNKNOWN_VALUE)
    if wish.unset:
        if spec and spec.required:
            raise Refused(Refusal.MISSING_VALUE)
        return None
    if wish.add is None:
        assert wish.set is not None
        return checked(spec, wish.set)
    addend = of_kind(spec.kind, wish.add) if spec else wish.add
    if isinstance(before, bool | str) or isinstance(addend, bool | str):
        raise Refused(Refusal.INVALID_VALUE)
    return checked(spec, (before or 0) + addend)


def checked(spec: ValueSpec | None, value: Value) -> Value:
    """A value as its kind has it."""
    if spec is None:
        return value
    right = of_kind(spec.kind, value)
    if isinstance(right, int | float) and not isinstance(right, bool):
        is_outside = (spec.min is not None and right < spec.min) or (
            spec.max is not None and right > spec.max
        )
    else:
        is_outside = isinstance(right, str) and spec.max_length is not None and len(right) > spec.max_length
    if is_outside or (spec.one_of is not None and not any(same(each, right) for each in spec.one_of)):
        raise Refused(Refusal.INVALID_VALUE)
    return right


def of_kind(kind: ValueKind, value: Value) -> Value:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if kind is ValueKind.NUMBER and math.isfinite(value):
            return float(value)
        if kind is ValueKind.INTEGER and value == int(value) and -(2**63) <= value < 2**63:
            return int(value)
    wanted = {ValueKind.TEXT: str, ValueKind.BOOLEAN: bool}.get(kind)
    if wanted is not None and isinstance(value, wanted):
        return value
    raise Refused(Refusal.INVALID_VALUE)
