"""Programs in Python that Catchment is compared with, in a virtual environment of their own.

They ask for other versions of what Catchment needs itself. `bench/peers/requirements.lock` locks them; the
first benchmark that needs them installs them below `build`.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson

from catchment.bench.site import log_of
from catchment.config import Config
from catchment.errors import MachineError
from catchment.jars import PEER_SOURCES, PROJECT
from catchment.kafka.clients import client_settings
from catchment.kafka.parties import Party
from catchment.node.process import Child
from catchment.security.files import exclusive, write_private

LOCK_FILE = PEER_SOURCES / "requirements.lock"
ENVIRONMENT = PROJECT / "build" / "peers"
PYTHON = ENVIRONMENT / "bin" / "python"


def prepare() -> None:
    """Installs what is locked, unless just that is there; needs the network only then."""
    ENVIRONMENT.parent.mkdir(parents=True, exist_ok=True)
    locked, installed = hashlib.sha256(LOCK_FILE.read_bytes()).hexdigest(), ENVIRONMENT / "installed"
    with exclusive(ENVIRONMENT.with_suffix(".lock")):
        if installed.exists() and installed.read_text() == locked:
            return
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(ENVIRONMENT)])
        options = ["--quiet", "--disable-pip-version-check", "--require-hashes", "--only-binary", ":all:"]
        _run([str(PYTHON), "-m", "pip", "install", *options, "--requirement", str(LOCK_FILE)])
        installed.write_text(locked)


def start(site: Config, name: str, script: str, **settings: Any) -> Child:
    """Starts one with its settings, which it reads from a file."""
    file = site.data_dir / f"{name}.json"
    write_private(file, orjson.dumps({"kafka": _kafka(site), **settings}))
    command = [str(PYTHON), str(PEER_SOURCES / "queries" / script), str(file)]
    return Child(command, os.environ, log_of(site, name))


def _kafka(site: Config) -> dict[str, Any]:
    """What every librdkafka client of an administrator needs."""
    settings = client_settings(site, Party.ADMIN)
    return {name: value for name, value in settings.items() if name not in ("logger", "client.id")}


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise MachineError(
            f"Quix Streams and Bytewax could not be installed: {lines[-1] if lines else 'pip failed'}",
            "Check that this machine reaches a Python package index, and run the benchmark again.",
        )


def versions() -> dict[str, str]:
    """Those of what is compared with, as they are locked."""
    lines = (Path(LOCK_FILE).read_text()).splitlines()
    pinned = (
        line.split(" ")[0].partition("==") for line in lines if "==" in line and not line.startswith(" ")
    )
    return {name: version for name, _, version in pinned if name in ("bytewax", "quixstreams")}
