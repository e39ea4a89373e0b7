"""Plots of a benchmark: a page that stands by itself, drawn as SVG without any library."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 20, 45
COLOURS = ("#1f6feb", "#d1570d", "#1a7f37", "#8250df", "#57606a", "#bf3989")
BAR_HEIGHT = 26
Point = tuple[float, float]

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 48em; color: #1f2328; }}
svg {{ width: 100%; height: auto; font: 12px system-ui, sans-serif; }}
h2 {{ font-size: 1.1em; margin: 2em 0 0.3em; }}
</style>
<h1>{title}</h1>
{body}
</html>
"""


@dataclass(frozen=True)
class Lines:
    """Curves over a common axis, both axes logarithmic: delays over rates span decades."""

    title: str
    x_label: str
    y_label: str
    curves: Mapping[str, Sequence[Point]]

    def svg(self) -> str:
        """The drawing."""
        points = [point for curve in self.curves.values() for point in curve]
        x_axis = Axis.around([x for x, _ in points], LEFT, WIDTH - RIGHT)
        y_axis = Axis.around([y for _, y in points], HEIGHT - BOTTOM, TOP)
        marks = [*_x_marks(x_axis), *_y_marks(y_axis)]
        for (name, curve), colour, row in zip(self.curves.items(), _colours(), range(99), strict=False):
            marks += _curve([(x_axis.place(x), y_axis.place(y)) for x, y in sorted(curve)], colour)
            marks.append(_text(WIDTH - RIGHT + 15, TOP + 12 + 18 * row, name, colour))
        marks.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, self.x_label, anchor="middle"))
        marks.append(_text(LEFT, TOP - 8, self.y_label, anchor="end"))
        return _svg(HEIGHT, marks)


@dataclass(frozen=True)
class Bars:
    """One length for each name."""

    title: str
    unit: str
    bars: Mapping[str, float]

    def svg(self) -> str:
        """The drawing."""
        longest = max(self.bars.values(), default=0) or 1
        marks = []
        for row, ((name, value), colour) in enumerate(zip(self.bars.items(), _colours(), strict=False)):
            top, width = TOP + row * BAR_HEIGHT, value / longest * (WIDTH - 2 * RIGHT)
            marks.append(
                f'<rect x="{RIGHT}" y="{top}" width="{width:.1f}" height="{BAR_HEIGHT - 8}" fill="{colour}"/>'
            )
            marks.append(_text(RIGHT - 8, top + 13, name, anchor="end"))
            marks.append(_text(RIGHT + width + 6, top + 13, f"{short(value)} {self.unit}"))
        return _svg(TOP + len(self.bars) * BAR_HEIGHT, marks)


Plot = Lines | Bars


def write_page(file: Path, title: str, plots: Sequence[Plot]) -> None:
    """A page with all of them."""
    body = "\n".join(f"<h2>{escape(plot.title)}</h2>\n{plot.svg()}" for plot in plots)
    file.write_text(PAGE.format(title=escape(title), body=body), encoding="utf-8")


@dataclass(frozen=True)
class Axis:
    """A logarithmic scale from one place on the paper to another."""

    lowest: float
    highest: float
    begin: float
    end: float

    @classmethod
    def around(cls, values: Sequence[float], begin: float, end: float) -> "Axis":
        """Whole steps that hold all values; what is not above zero has no place."""
        positive = [value for value in values if value > 0] or [1.0]
        return cls(_step_below(min(positive)), _step_above(max(positive)), begin, end)

    def place(self, value: float) -> float:
        share = math.log(max(value, self.lowest) / self.lowest) / math.log(self.highest / self.lowest)
        return self.begin + share * (self.end - self.begin)

    def ticks(self) -> list[float]:
        decades = range(math.floor(math.log10(self.lowest)), math.ceil(math.log10(self.highest)) + 1)
        steps = [factor * 10.0**decade for decade in decades for factor in (1, 2, 5)]
        return [step for step in steps if self.lowest <= step * 1.0001 and step <= self.highest * 1.0001]


def short(value: float) -> str:
    """A number as people read it."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _step_below(value: float) -> float:
    decade = 10.0 ** math.floor(math.log10(value))
    return max(factor * decade for factor in (1, 2, 5) if factor * decade <= value * 1.0001)


def _step_above(value: float) -> float:
    decade = 10.0 ** math.floor(math.log10(value))
    return min(factor * decade for factor in (2, 5, 10) if factor * decade > value)


def _x_marks(axis: Axis) -> list[str]:
    bottom = HEIGHT - BOTTOM
    return [
        mark
        for tick in axis.ticks()
        for mark in (
            _line(axis.place(tick), TOP, axis.place(tick), bottom),
            _text(axis.place(tick), bottom + 16, short(tick), anchor="middle"),
        )
    ]


def _y_marks(axis: Axis) -> list[str]:
    right = WIDTH - RIGHT
    return [
        mark
        for tick in axis.ticks()
        for mark in (
            _line(LEFT, axis.place(tick), right, axis.place(tick)),
            _text(LEFT - 8, axis.place(tick) + 4, short(tick), anchor="end"),
        )
    ]


def _curve(points: Sequence[Point], colour: str) -> list[str]:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *dots]


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#d0d7de"/>'


def _text(x: float, y: float, text: str, colour: str = "#1f2328", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(height: float, marks: Sequence[str]) -> str:
    body = "".join(marks)
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}">{body}</svg>'


def _colours() -> Sequence[str]:
    return COLOURS * 4
