"""A site that is there for one benchmark: a broker and a gateway of its own, beside the running node.

Both stand in a directory inside the node's, and so on the disk that is to be measured.
"""

import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from catchment.config import Config, Role
from catchment.config.loading import PREFIX
from catchment.errors import NodeNotRunning, PartFailed
from catchment.health import State, ask
from catchment.kafka.broker import command, prepare_cluster, wait_until_ready
from catchment.node.process import Child, last_words

WAIT_S = 120.0
POLL_S = 0.02


@contextmanager
def broker(config: Config, name: str, **sections: Any) -> Iterator[Config]:
    """A site with a broker, for as long as the block lasts; sections are of its configuration."""
    config.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=config.data_dir) as directory:
        ports = dict(zip(("port", "controller_port"), free_ports(2), strict=True))
        kafka = {"heap_mib": config.kafka.heap_mib, **ports, **sections.pop("kafka", {})}
        site = Config.model_validate(
            {"data_dir": Path(directory), "site": name, "role": Role.SITE, "kafka": kafka, **sections}
        )
        child = Child(command(site), os.environ, site.paths.logs / "broker.out")
        try:
            wait_until_ready(site, lambda: not child.exited(), WAIT_S)
            prepare_cluster(site)
            yield site
        finally:
            child.kill()


@contextmanager
def gateway(site: Config) -> Iterator[Child]:
    """A gateway of that site, which takes messages while the block lasts."""
    child = start(site, "gateway", ["catchment", "--config", str(write(site)), "gateway"])
    try:
        wait_for(lambda: _is_running(site), lambda: _check(child, site, "gateway"))
        yield child
    finally:
        child.kill()


def start(site: Config, name: str, module_and_arguments: Sequence[str]) -> Child:
    """A Python process of the site, which knows the site's configuration alone."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(PREFIX)}
    return Child([sys.executable, "-m", *module_and_arguments], environment, log_of(site, name))


def write(site: Config) -> Path:
    """The site's configuration in a file."""
    file = site.data_dir / "catchment.yaml"
    file.write_text(yaml.safe_dump(site.model_dump(mode="json", exclude_none=True)))
    return file


def log_of(site: Config, name: str) -> Path:
    return site.paths.logs / f"{name}.out"


def wait_for(
    reached: Callable[[], bool], check: Callable[[], None], timeout_s: float = WAIT_S, poll_s: float = POLL_S
) -> None:
    """Returns when it is reached; `check` raises when it never will be."""
    deadline_s = time.monotonic() + timeout_s
    while not reached():
        check()
        if time.monotonic() > deadline_s:
            raise PartFailed(
                f"The benchmark did not come on within {timeout_s:.0f} s", "Run it on a machine less busy."
            )
        time.sleep(poll_s)


def free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def _check(child: Child, site: Config, name: str) -> None:
    if child.exited():
        raise PartFailed(f"The {name} ended: {last_words(log_of(site, name))}", "Run the benchmark again.")


def _is_running(site: Config) -> bool:
    try:
        return ask(site.paths.socket("gateway")).state is State.RUNNING
    except NodeNotRunning:
        return False
