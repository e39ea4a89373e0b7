"""Plots of what is known of twins after a run, from the names of the figures."""

import re
from collections import defaultdict
from typing import Any

from catchment.bench.plots import Bars, Lines, Plot, Point

Figures = dict[str, dict[str, Any]]
DELAY = re.compile(r"delay_(?P<subject>\w+)_(?P<rate>\d+)_(?P<percentile>p\d+)")


def plots(figures: Figures) -> list[Plot]:
    """Those for which there are figures."""
    drawn: list[Plot] = [
        _bars(figures, "rate", "Objects a second, from a backlog"),
        _bars(figures, "cpu", "CPU time of an object"),
        _delays(figures, "p50", "Median delay from change to changelog"),
        _delays(figures, "p99", "99th percentile of the delay"),
        _bars(figures, "recovery", "From a kill until every object was changed once more"),
    ]
    return [plot for plot in drawn if (plot.bars if isinstance(plot, Bars) else plot.curves)]


def _bars(figures: Figures, prefix: str, title: str) -> Bars:
    found = {name: each for name, each in figures.items() if name.startswith(f"{prefix}_")}
    unit = next((each["unit"] for each in found.values()), "")
    return Bars(
        title, unit, {_name(name.removeprefix(f"{prefix}_")): each["value"] for name, each in found.items()}
    )


def _delays(figures: Figures, percentile: str, title: str) -> Lines:
    curves: dict[str, list[Point]] = defaultdict(list)
    for name, each in figures.items():
        match = DELAY.fullmatch(name)
        if match and match["percentile"] == percentile:
            curves[_name(match["subject"])].append((float(match["rate"]), each["value"]))
    return Lines(title, "objects/s", "ms", curves)


def _name(subject: str) -> str:
    """As people read it; a store alone is ours."""
    ours = subject in ("rocksdb", "memory")
    return f"Catchment, {subject}" if ours else subject.replace("_", " ").capitalize()
