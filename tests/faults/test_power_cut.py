"""The broker's machine loses power: its disk is as it was at that moment, and nothing is lost all the same.

Kafka acknowledges before its data are on the disk, so that the disk is behind what the gateway was told.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
import pytest

from catchment.health import ask
from tests.conftest import MakeConfig
from tests.integration.test_kill import records_in_kafka
from tests.running_node import RunningNode, running_node

IMAGE_MIB = 300
RATE = 2_000
COUNT = 20_000

pytestmark = pytest.mark.timeout(300)


def run(*command: object) -> None:
    subprocess.run([str(word) for word in command], check=True, capture_output=True)


class Disk:
    """A disk of its own for a directory: what is not written out to its image is lost with the power."""

    def __init__(self, image: Path, directory: Path) -> None:
        self._image = image
        self._directory = directory
        with image.open("wb") as file:
            file.truncate(IMAGE_MIB << 20)
        run("mkfs.ext4", "-q", image)
        directory.mkdir(mode=0o700, parents=True)
        self.mount()

    def mount(self) -> None:
        run("mount", "-o", "loop,commit=60", self._image, self._directory)

    def copy_as_it_is(self) -> Path:
        copy = self._image.with_suffix(".copy")
        run("cp", "--sparse=always", self._image, copy)
        return copy

    def become(self, copy: Path) -> None:
        run("umount", "-l", self._directory)
        self._image = copy
        self.mount()

    def unmount(self) -> None:
        subprocess.run(["umount", "-l", self._directory], check=False, capture_output=True)


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.fixture
def node_and_disk(make_config: MakeConfig, tmp_path: Path) -> Iterator[tuple[RunningNode, Disk]]:
    config = make_config(min_free_mib=100, pipeline={"checkpoint_interval_s": 5})
    try:
        disk = Disk(tmp_path / "disk.image", config.paths.kafka)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no disk of its own can be mounted here: {error.stderr.decode().strip()}")
    try:
        with running_node(config) as node:
            node.wait_until_ready()
            yield node, disk
    finally:
        disk.unmount()


def test_nothing_is_lost_when_the_brokers_machine_loses_power(
    node_and_disk: tuple[RunningNode, Disk],
) -> None:
    node, disk = node_and_disk
    arguments = ["--rate", str(RATE), "--count", str(COUNT), "--providers", "2", "--json"]
    sender = node.spawn("simulate", "lines", *arguments, stdout=subprocess.PIPE)
    time.sleep(6)
    broker = node.components()["broker"].pid
    assert broker
    with frozen(node.process.pid):
        os.kill(broker, signal.SIGSTOP)
        copy = disk.copy_as_it_is()
        os.kill(broker, signal.SIGKILL)
        disk.become(copy)
    output, _ = sender.communicate(timeout=120)
    assert orjson.loads(output)["sent"] == COUNT
    node.wait_until_ready()
    node.wait_until(lambda: ask(node.config.paths.socket("gateway")).figures["spool_bytes"] == 0)
    assert records_in_kafka(node).total() == COUNT
    proof = orjson.loads(node.call("verify", "--json", "--wait-s", "60").stdout)
    assert (proof["sent"], proof["received"], proof["missing"]) == (COUNT, COUNT, 0)
    log = (node.config.paths.logs / "gateway.log").read_text()
    assert "sent again" in log or "looking up" in log, "the cut was too early or too late to lose anything"
