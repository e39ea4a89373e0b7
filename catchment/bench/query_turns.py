"""Whose turn it is, for a process that runs queries: a file that says so, and another one that answers."""

from pathlib import Path

# How the name of the answer ends: it says what the process has begun, having ended all else.
TAKEN = ".taken"


def read_turn(file: Path) -> str:
    return file.read_text() if file.exists() else ""
