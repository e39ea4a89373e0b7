"""Disks of their own: what is not written out to its image is lost with the power."""

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.hosts import run

BALLAST = "ballast"


class CannotMount(Exception):
    """This machine lets us mount no disk."""


class Disk:
    """An ext4 file system in a file, mounted at a directory.

    It writes its journal out only once a minute by itself, so that nothing is there for luck: what is on the
    image was asked to be.
    """

    def __init__(self, image: Path, directory: Path, mib: int) -> None:
        self._image = image
        self._directory = directory
        self._copies = 0
        with image.open("wb") as file:
            file.truncate(mib << 20)
        run("mkfs.ext4", "-q", "-m", "0", str(image))
        directory.mkdir(mode=0o700, parents=True)
        try:
            self._mount()
        except subprocess.CalledProcessError as error:
            raise CannotMount(error.stderr.strip()) from None

    def copy_as_it_is(self) -> Path:
        """The disk as it would be found if the power went now."""
        self._copies += 1
        copy = self._image.with_suffix(f".{self._copies}")
        run("cp", "--sparse=always", str(self._image), str(copy))
        return copy

    def become(self, copy: Path) -> None:
        """Mounts the copy in place of what was there."""
        self.unmount()
        self._image.unlink()
        self._image = copy
        self._mount()

    def unmount(self) -> None:
        run("umount", "--lazy", str(self._directory))

    @contextmanager
    def full(self) -> Iterator[None]:
        """Not a byte is free."""
        ballast = self._directory / BALLAST
        with ballast.open("wb", buffering=0) as file:
            for block_bytes in (1 << 20, 1 << 12):
                _write_until_full(file.fileno(), bytes(block_bytes))
        try:
            yield
        finally:
            ballast.unlink()

    def _mount(self) -> None:
        run("mount", "-o", "loop,commit=60", str(self._image), str(self._directory))


def _write_until_full(descriptor: int, block: bytes) -> None:
    try:
        while True:
            os.write(descriptor, block)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
