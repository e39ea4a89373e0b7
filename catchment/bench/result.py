"""What a benchmark leaves behind: figures with units, ratios to a peer in the same run, and perhaps plots."""

import platform
import subprocess
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson

from catchment.bench.plots import Plot, write_page

PACKAGES = ("catchment", "confluent-kafka", "pyspark")


@dataclass
class Result:
    """Collected while a benchmark runs. A ratio is always ours over the peer's."""

    bench: str
    figures: dict[str, dict[str, Any]] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    plots: list[Plot] = field(default_factory=list)
    # Versions of peers that are not installed beside Catchment.
    packages: dict[str, str] = field(default_factory=dict)
    # What a reader of the figures has to know.
    notes: list[str] = field(default_factory=list)

    def add(self, name: str, value: float, unit: str) -> None:
        self.figures[name] = {"value": round(value, 3), "unit": unit}

    def compare(self, name: str, ours: str, peer: str) -> None:
        """Notes how one figure relates to another of this run."""
        self.ratios[name] = round(self.figures[ours]["value"] / self.figures[peer]["value"], 3)

    def as_dict(self) -> dict[str, Any]:
        versions = {package: version(package) for package in PACKAGES}
        return {
            "bench": self.bench,
            "commit": _commit(),
            "versions": {**versions, **self.packages, "python": platform.python_version()},
            "figures": self.figures,
            "ratios": self.ratios,
            **({"notes": self.notes} if self.notes else {}),
        }

    def write(self, file: Path) -> None:
        """The figures as JSON, and the plots as a page beside it."""
        if self.plots:
            write_page(file.with_suffix(".html"), f"catchment bench run {self.bench}", self.plots)
        file.write_bytes(orjson.dumps(self.as_dict(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def percentile(sorted_values: list[float], share: float) -> float:
    """The value below which `share` of all values lie."""
    return sorted_values[min(len(sorted_values) - 1, int(share * len(sorted_values)))]


def _commit() -> str:
    here = Path(__file__).parent
    found = subprocess.run(["git", "-C", here, "rev-parse", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip() or "unknown"
