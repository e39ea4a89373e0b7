"""What is wrong with a declaration: one line for each thing, with its place and what to change."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from catchment.errors import InvalidQuery

Place = tuple[str, ...]
_SINGULAR = {"inputs": "input", "tables": "table", "boxes": "box", "outputs": "output"}


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong."""

    place: Place
    happened: str
    remedy: str
    line: int | None = None

    def __str__(self) -> str:
        line = f"line {self.line}: " if self.line else ""
        return f"{line}{where(self.place)}{self.happened}. {self.remedy.rstrip('.?')}{self._end}"

    @property
    def _end(self) -> str:
        return "?" if self.remedy.endswith("?") else "."


def where(place: Place) -> str:
    """`("boxes", "tcp", "where")` as `box tcp, where: `."""
    if not place:
        return ""
    named = len(place) > 1 and place[0] in _SINGULAR
    thing = f"{_SINGULAR[place[0]]} {place[1]}" if named else place[0]
    rest = ".".join(place[2 if named else 1 :])
    return f"{thing}, {rest}: " if rest else f"{thing}: "


def nearest(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """The remedy for a name that is not known."""
    names = list(known)
    near = difflib.get_close_matches(name, names, 1, 0.6)
    if near:
        return f"Did you mean {near[0]}?"
    return otherwise or f"Use one of {', '.join(names)}"


def refuse(name: str, problems: Iterable[Problem]) -> None:
    """Raises all of them as one error, if there are any."""
    lines = [str(problem) for problem in problems]
    if lines:
        raise InvalidQuery(name, lines)
