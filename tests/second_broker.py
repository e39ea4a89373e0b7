"""A second broker beside an embedded one, so that the two are a cluster."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from catchment.config import Config
from catchment.jars import broker_classpath, check_java
from catchment.kafka.broker import command, wait_until_ready
from catchment.node.process import Child

START_TIMEOUT_S = 120.0


@contextmanager
def second_broker(config: Config, port: int) -> Iterator[Child]:
    """One that knows the first one's controller and authority, and listens on a port of its own."""
    home = config.paths.data / "second"
    properties = _write_properties(config, home, port)
    _format(config, properties)
    # Log settings of its own: two processes would write to one file.
    options = [word for word in command(config)[:-1] if "log4j2" not in word and "kafka.logs" not in word]
    child = Child([*options, str(properties)], os.environ, home / "broker.out")
    elsewhere = config.model_copy(update={"kafka": config.kafka.model_copy(update={"port": port})})
    try:
        wait_until_ready(elsewhere, lambda: not child.exited(), START_TIMEOUT_S)
        yield child
    finally:
        child.kill()


def _write_properties(config: Config, home: Path, port: int) -> Path:
    home.mkdir()
    settings = (config.paths.kafka / "server.properties").read_text()
    address = f"SSL://{config.kafka.host}:{port}"
    own = {
        "process.roles": "broker",
        "node.id": "2",
        "listeners": address,
        "advertised.listeners": address,
        "log.dirs": str(home / "log"),
    }
    for name, value in own.items():
        settings = re.sub(rf"(?m)^{re.escape(name)}=.*$", f"{name}={value}", settings)
    file = home / "server.properties"
    file.write_text(settings)
    return file


def _format(config: Config, properties: Path) -> None:
    cluster_id = (config.paths.kafka / "cluster-id").read_text()
    tool = [str(check_java()), "-cp", broker_classpath(), "kafka.tools.StorageTool", "format"]
    arguments = [f"--cluster-id={cluster_id}", f"--config={properties}"]
    subprocess.run([*tool, *arguments], check=True, capture_output=True)
