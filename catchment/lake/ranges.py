"""Numbers as ranges: what has come, and what is missing in between."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator

Range = tuple[int, int]


class Ranges:
    """A set of numbers. Adding some twice changes nothing."""

    def __init__(self, ranges: Iterable[Range] = ()) -> None:
        self._ranges: list[Range] = []
        for first, last in ranges:
            self.add(first, last)

    def __iter__(self) -> Iterator[Range]:
        return iter(self._ranges)

    def add(self, first: int, last: int) -> None:
        """Adds all numbers from first to last; what it touches becomes one range."""
        start = bisect_left(self._ranges, first - 1, key=lambda each: each[1])
        end = start
        while end < len(self._ranges) and self._ranges[end][0] <= last + 1:
            first, last = min(first, self._ranges[end][0]), max(last, self._ranges[end][1])
            end += 1
        self._ranges[start:end] = [(first, last)]

    @property
    def count(self) -> int:
        return sum(last - first + 1 for first, last in self._ranges)

    @property
    def highest(self) -> int:
        return self._ranges[-1][1] if self._ranges else 0

    def gaps(self, lowest: int, most: int) -> list[Range]:
        """What is missing from `lowest` on, at most so many ranges."""
        gaps: list[Range] = []
        for first, last in self._ranges:
            if len(gaps) == most:
                break
            if first > lowest:
                gaps.append((lowest, first - 1))
            lowest = max(lowest, last + 1)
        return gaps
