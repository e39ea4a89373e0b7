"""A whole node for tests: the real `catchment up` in a process of its own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson
import psutil
import yaml

from catchment.config import Config
from catchment.errors import NodeNotRunning
from catchment.node.process import birth, session_members
from catchment.node.status import Component, NodeStatus, ask_node

READY_TIMEOUT_S = 300.0


class RunningNode:
    """`catchment up`, and the other commands beside it with the same configuration."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._file = config.data_dir / "catchment.yaml"
        self._file.write_text(yaml.safe_dump(config.model_dump(mode="json", exclude_none=True)))
        self.output = config.data_dir / "up.txt"
        self.process = self.start()

    def start(self) -> "subprocess.Popen[bytes]":
        with self.output.open("wb") as output:
            self.process = self.spawn("up", stdout=output, stderr=subprocess.STDOUT)
        return self.process

    def spawn(self, *arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(self._command(arguments), env=clean_environment(), **options)

    def call(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self._command(arguments),
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def status(self) -> NodeStatus | None:
        """Asked over the socket: a process for each question would slow down what is waited for."""
        try:
            return ask_node(self.config)
        except NodeNotRunning:
            return None

    def components(self) -> dict[str, Component]:
        status = self.status()
        return {component.name: component for component in status.components} if status else {}

    def wait_until(self, reached: Callable[[], bool], timeout_s: float = READY_TIMEOUT_S) -> None:
        deadline_s = time.monotonic() + timeout_s
        while not reached():
            assert self.process.poll() is None, self.output.read_text()
            assert time.monotonic() < deadline_s, f"{self.status()}\n{self.output.read_text()}"
            time.sleep(0.3)

    def wait_until_ready(self) -> None:
        self.wait_until(lambda: (status := self.status()) is not None and status.ready)

    def pids(self) -> list[int]:
        """The supervisor's children and whatever they started."""
        entries = orjson.loads(self.config.paths.processes.read_bytes()).values()
        return [pid for entry in entries for pid in session_members(entry["pid"])]

    def stop_by(self, number: signal.Signals) -> float:
        """Sends the supervisor a signal and gives the seconds until its end."""
        began_s = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(60)
        return time.monotonic() - began_s

    def _command(self, arguments: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "catchment", "--config", str(self._file), *arguments]


@contextmanager
def running_node(config: Config) -> Iterator[RunningNode]:
    """A node that is gone after the block, whatever happened in it."""
    node = RunningNode(config)
    try:
        yield node
    finally:
        node.process.kill()
        node.process.wait()


def alive(pids: list[int]) -> list[str]:
    """What of the processes lives, as one can read it."""
    return [" ".join(psutil.Process(pid).cmdline()) for pid in pids if birth(pid) is not None]


def clean_environment() -> dict[str, str]:
    """The environment without settings of whoever runs the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CATCHMENT_")}
