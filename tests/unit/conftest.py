"""What the tests of the command line share: the real command, in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

RunCatchment = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run_catchment(tmp_path: Path) -> RunCatchment:
    """Runs `catchment ARGUMENTS` with an environment of its own and a data directory below `tmp_path`."""

    def run(
        *arguments: str, environment: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("CATCHMENT_")}
        variables = {**inherited, "CATCHMENT_DATA_DIR": str(tmp_path / "data"), **(environment or {})}
        command = [sys.executable, "-m", "catchment", *arguments]
        return subprocess.run(
            command, env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
        )

    return run
