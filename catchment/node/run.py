"""`catchment up`: from a configuration to a running node, and to its end."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from catchment.config import Config
from catchment.config.loading import FILE_VARIABLE, file_in_use
from catchment.node import first_start, preflight
from catchment.node.lock import NodeLock
from catchment.node.parts import parts_of
from catchment.node.process import rotate
from catchment.node.remains import MARK, Remains
from catchment.node.status import NodeStatus
from catchment.node.supervisor import Supervisor


def run(
    config: Config,
    file: Path | None,
    demonstration: bool,
    show: Callable[[NodeStatus], None],
    greet: Callable[[str], None],
) -> None:
    """Runs a node until it is told to stop. In this order:

    1. the data directory can be used, and no other node uses it;
    2. what a killed node left behind is removed, because it may hold ports;
    3. the machine has what a node needs;
    4. identities, the operator's token and an administrator exist; who is new is greeted with a password;
    5. the parts run.
    """
    os.umask(0o077)
    preflight.check_data_dir(config)
    lock = NodeLock(config.paths.lock)
    lock.acquire()
    try:
        _log_to(config.paths.logs / "node.log")
        Remains(config.paths.processes, config.data_dir).sweep()
        preflight.check_machine(config)
        first_start.issue_identities(config)
        first_start.create_operator_token(config)
        if password := first_start.create_administrator(config):
            greet(password)
        Supervisor(config, parts_of(config, demonstration), environment_of(config, file), show).run()
    finally:
        lock.release()


def environment_of(config: Config, file: Path | None) -> dict[str, str]:
    """What the parts inherit: the same configuration, wherever they are started from."""
    environment = {**os.environ, MARK: str(config.data_dir), "PYTHONUNBUFFERED": "1"}
    used = file_in_use(file, os.environ)
    if used:
        environment[FILE_VARIABLE] = str(used.absolute())
    return environment


def _log_to(file: Path) -> None:
    """The supervisor's own log; the terminal is for people."""
    file.parent.mkdir(mode=0o700, exist_ok=True)
    rotate(file)
    logging.basicConfig(filename=file, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
