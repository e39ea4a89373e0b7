"""Machines: a host with a data directory and parts of Catchment on it, under the node's own supervisor.

What is killed on a machine is started again by that supervisor, as on a node; a machine that gets its power
back starts the supervisor, as its system would.
"""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import yaml

from catchment.config import Config, load
from catchment.config.loading import FILE_VARIABLE
from catchment.errors import NodeNotRunning
from catchment.node.parts import parts_of
from catchment.node.process import Child
from catchment.node.status import Component, ask_node
from catchment.node.supervisor import Supervisor
from tests.faults.hosts import Host
from tests.faults.power import Disk
from tests.running_node import clean_environment

READY_TIMEOUT_S = 240.0


class Machine:
    """A host that runs some parts; `disk` is where all that has to outlive a power cut is."""

    def __init__(self, host: Host, config: Config, parts: tuple[str, ...], disk: Disk | None = None) -> None:
        self.host = host
        self.config = config
        self.disk = disk
        self._parts = parts
        self._file = config.data_dir / "catchment.yaml"
        self._file.write_text(yaml.safe_dump(config.model_dump(mode="json", exclude_none=True)))
        self._supervisor: Child | None = None

    def start(self) -> None:
        self._supervisor = self.spawn(
            "-m", "tests.faults.machines", str(self._file), *self._parts, log="supervisor"
        )

    def spawn(self, *arguments: str, log: str, host: Host | None = None) -> Child:
        """A Python of ours on this host, or on another one."""
        return Child(
            (host or self.host).command(sys.executable, *arguments),
            clean_environment(),
            self.config.paths.logs / f"{log}.out",
        )

    def catchment(self, *arguments: str, log: str, host: Host | None = None) -> Child:
        """A command of ours with the machine's configuration."""
        return self.spawn("-m", "catchment", "--config", str(self._file), *arguments, log=log, host=host)

    def stop(self) -> None:
        if self._supervisor:
            self._supervisor.kill()

    def components(self) -> dict[str, Component]:
        try:
            return {component.name: component for component in ask_node(self.config).components}
        except NodeNotRunning:
            return {}

    def wait_until_ready(self) -> None:
        def ready() -> bool:
            components = self.components()
            return bool(components) and all(
                components[part].state == "running" for part in self._parts if part in components
            )

        wait_until(ready, f"{self._parts} to be ready")

    def kill(self, part: str) -> None:
        """`kill -9`, when the part is there to be killed."""
        wait_until(lambda: (found := self.components().get(part)) is not None and bool(found.pid), part)
        pid = self.components()[part].pid
        assert pid
        os.kill(pid, signal.SIGKILL)

    def restarts(self, part: str) -> int:
        found = self.components().get(part)
        return found.restarts if found else 0

    def lose_power(self) -> None:
        """At one moment everything stops; the disk is left as it was then, and all else is gone."""
        assert self.disk
        assert self._supervisor
        with self.host.cut_off():
            for pid in self.host.processes():
                os.kill(pid, signal.SIGSTOP)
            copy = self.disk.copy_as_it_is()
            # The supervisor first, so that it restarts nothing.
            os.kill(self._supervisor.pid, signal.SIGKILL)
            for pid in self.host.processes():
                os.kill(pid, signal.SIGKILL)
            self._supervisor.kill()
            wait_until(lambda: not self.host.processes(), "the end of all processes")
            self.host.remove()
        self.disk.become(copy)

    def get_power_back(self) -> None:
        self.host.connect()
        self.start()


def share_identities(source: Config, target: Config) -> None:
    """Carries certificates to another machine."""
    shutil.copytree(source.paths.identities, target.paths.identities)


def wait_until(reached: Callable[[], bool], what: str, timeout_s: float = READY_TIMEOUT_S) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not reached():
        assert time.monotonic() < deadline_s, f"waited {timeout_s:g} s in vain for {what}"
        time.sleep(0.05)


def keep(file: Path, names: list[str]) -> None:
    """The supervisor of a machine that has only these parts of a node: none waits for another machine's."""
    config = load(file)
    parts = [replace(part, waits_for=frozenset()) for part in parts_of(config) if part.name in names]
    environment = {**os.environ, FILE_VARIABLE: str(file)}
    Supervisor(config, parts, environment, lambda _: None).run()


if __name__ == "__main__":
    keep(Path(sys.argv[1]), sys.argv[2:])
