"""One number for many files: what is built from them is built again only when it changes."""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def fingerprint(root: Path, files: Iterable[Path]) -> str:
    """Of the files' content, and of their names below a folder."""
    digest = hashlib.sha256()
    for file in sorted(files):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(root)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()
