"""`python -m catchment.manual.build`: builds the manual if its sources changed; a warning fails it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import orjson

from catchment.errors import MachineError
from catchment.fingerprint import fingerprint
from catchment.manual.pages import SITE

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# The console's, of which the manual has the colours.
PALETTE = ROOT / "web" / "src" / "css" / "palette.css"

_STAMP = ".built-from"


def build(site: Path = SITE) -> bool:
    """Builds unless the last build was of the same sources; says whether it had to."""
    sources = fingerprint(ROOT, _sources())
    stamp = site / _STAMP
    if stamp.exists() and stamp.read_text() == sources:
        return False
    # Beside its place first: a node that serves the old one is not without pages meanwhile.
    with tempfile.TemporaryDirectory(prefix=f"{site.name}.", dir=site.parent) as folder:
        new = Path(folder) / "new"
        _mkdocs(new)
        _add_palette(new / "manual.css")
        _index_sections(new / "search" / "search_index.json")
        (new / _STAMP).write_text(sources)
        if site.exists():
            site.rename(Path(folder) / "old")
        new.rename(site)
    return True


def _sources() -> list[Path]:
    folders = (DOCS, Path(__file__).parent / "theme")
    return [
        ROOT / "mkdocs.yml",
        PALETTE,
        *(file for folder in folders for file in folder.rglob("*") if file.is_file()),
    ]


def _mkdocs(target: Path) -> None:
    # Not quietly: mkdocs counts only the warnings that it would print.
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)]
    built = subprocess.run(command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True)
    said = [line for line in (built.stdout + built.stderr).splitlines() if line]
    wrong = [line for line in said if not line.startswith("INFO ")]
    if built.returncode != 0 or wrong:
        raise MachineError(f"The manual cannot be built: {' '.join(wrong or said)}", "Correct what it names.")


def _add_palette(sheet: Path) -> None:
    sheet.write_bytes(PALETTE.read_bytes() + b"\n" + sheet.read_bytes())


def _index_sections(index: Path) -> None:
    """Leaves of a whole page what stands below its title: the rest would be found twice, in its sections."""
    found = orjson.loads(index.read_bytes())
    pages: dict[str, dict[str, str]] = {}
    sections: list[dict[str, str]] = []
    for entry in found["docs"]:
        address = entry["location"].partition("#")[0]
        if address == entry["location"]:
            pages[address] = entry | {"text": ""}
        elif pages[address]["text"] == "":
            pages[address]["text"] = entry["text"]
        else:
            sections.append(entry)
    found["docs"] = [*pages.values(), *sections]
    index.write_bytes(orjson.dumps(found))


if __name__ == "__main__":
    try:
        sys.stdout.write("The manual is built.\n" if build() else "The manual is up to date.\n")
    except MachineError as error:
        sys.exit(str(error))
