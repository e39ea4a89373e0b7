"""Pieces of code in the manual and beside the examples, for the tests that try them."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_FOLDERS = (ROOT / "docs", ROOT / "examples")
_TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_OPERATORS = {"|", ">", "<", "<<<", "&&", "||", ";", "&"}
_ASSIGNMENT = re.compile(r"\w+=.*")
_PROGRAM = "catchment"


@dataclass(frozen=True)
class Snippet:
    """A block of code, and where it stands."""

    page: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    return [*_TOP, *sorted(page for folder in _FOLDERS for page in folder.rglob("*.md"))]


def snippets(language: str) -> list[Snippet]:
    """All blocks of a language."""
    return [
        Snippet(page, text.count("\n", 0, found.start()) + 1, found[2])
        for page in pages()
        for text in [page.read_text(encoding="utf-8")]
        for found in _BLOCK.finditer(text)
        if found[1] == language
    ]


def python_of(page: str, containing: str) -> str:
    """The one block of Python on a page that has these words."""
    blocks = [each.text for each in snippets("python") if each.page.name == page]
    (found,) = [text for text in blocks if containing in text]
    return found


def commands(text: str) -> Iterator[list[str]]:
    """The arguments of each call of our program in a block of shell."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if word not in _OPERATORS:
                if words or not _ASSIGNMENT.fullmatch(word):
                    words.append(word)
                continue
            if words and words[0] in (_PROGRAM, f".venv/bin/{_PROGRAM}"):
                yield words[1:]
            words = []
