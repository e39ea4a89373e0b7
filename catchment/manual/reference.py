"""`python -m catchment.manual.reference`: fills in what the manual says of the code from the code.

Between `<!-- generated: NAME -->` and `<!-- end -->` stands what the code says; the rest is written by hand.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path

from catchment.manual.build import DOCS
from catchment.manual.commands import commands
from catchment.manual.errors import errors
from catchment.manual.metrics import metrics
from catchment.manual.operations import operations
from catchment.manual.schemas import schemas
from catchment.manual.topics import rights, topics

GENERATED: dict[str, Callable[[], str]] = {
    "topics": topics,
    "rights": rights,
    "errors": errors,
    "metrics": metrics,
    "schemas": schemas,
    "operations": operations,
    "commands": commands,
}
_REGION = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(text: str) -> str:
    """A page with all its regions as they should be now."""
    return _REGION.sub(lambda found: f"{found[1]}\n{GENERATED[found[2]]()}\n{found[3]}", text)


def pages() -> dict[Path, str]:
    """Every page that has such a region, as it should be."""
    texts = {page: page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")}
    return {page: filled(text) for page, text in texts.items() if _REGION.search(text)}


def regions() -> set[str]:
    """The names of all regions that pages have."""
    texts = [page.read_text(encoding="utf-8") for page in DOCS.rglob("*.md")]
    return {found[2] for text in texts for found in _REGION.finditer(text)}


if __name__ == "__main__":
    for page, text in pages().items():
        if sys.argv[1:] == ["--write"]:
            page.write_text(text, encoding="utf-8")
        else:
            sys.stdout.write(text)
