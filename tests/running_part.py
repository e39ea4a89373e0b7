"""One part of a node for tests, as a process of its own beside the shared broker."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import yaml

from catchment.config import Config
from catchment.errors import NodeNotRunning
from catchment.health import Report, State, ask
from tests.running_node import clean_environment

READY_TIMEOUT_S = 300.0


@contextmanager
def running_part(
    config: Config, part: str, reports_as: str | None = None
) -> Iterator["subprocess.Popen[bytes]"]:
    """`catchment PART`, running when the block begins and gone after it."""
    name = reports_as or part
    file = config.data_dir / f"{name}.yaml"
    file.write_text(yaml.safe_dump(config.model_dump(mode="json", exclude_none=True)))
    command = [sys.executable, "-m", "catchment", "--config", str(file), part]
    process = subprocess.Popen(command, env=clean_environment())
    try:
        deadline = time.monotonic() + READY_TIMEOUT_S
        while (report := report_of(config, name)) is None or report.state is not State.RUNNING:
            assert process.poll() is None, f"{part} ended"
            assert time.monotonic() < deadline, f"{part} is not ready: {report}"
            time.sleep(0.1)
        yield process
    finally:
        process.kill()
        process.wait()


def report_of(config: Config, part: str) -> Report | None:
    try:
        return ask(config.paths.socket(part))
    except NodeNotRunning:
        return None
