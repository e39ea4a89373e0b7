"""The whole node: it becomes ready, tells its state, stops in time, and leaves nothing behind."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from catchment.config import Config
from tests.conftest import MakeConfig
from tests.running_node import alive, running_node

STOP_TIMEOUT_S = 15.0
QUERIES = [
    f"query:{name}"
    for name in (
        "ledger",
        "measurements",
        "thresholds",
        "twin-split",
        "twins",
        "twin-feed-records",
        "twin-feed-measurements",
        "lake",
        "lake-results",
    )
]
NEEDED = ["broker", "gateway", "relay", "pipeline", *QUERIES, "notify", "api"]


@pytest.fixture(scope="module")
def config(make_config: MakeConfig) -> Config:
    """One data directory for all tests here, so that a later start also shows what an earlier one left."""
    return make_config(min_free_mib=100)


def files_open_to_others(config: Config) -> list[str]:
    """What other users could read if the data directory itself were open to them."""
    spared = {"catchment.yaml", "up.txt"}  # this test's own
    files = [
        file
        for entry in config.data_dir.iterdir()
        if entry.name not in spared
        for file in (entry, *entry.rglob("*"))
    ]
    return [str(file) for file in files if _mode(file) & 0o077]


def _mode(file: Path) -> int:
    try:
        return file.lstat().st_mode
    except FileNotFoundError:
        # Kafka gives a new file its name when it is whole.
        return 0


def test_a_node_becomes_ready_recovers_and_goes_down(config: Config) -> None:
    with running_node(config) as node:
        node.wait_until_ready()
        status = json.loads(node.call("status", "--json").stdout)
        assert [component["name"] for component in status["components"]] == NEEDED
        assert {component["state"] for component in status["components"]} == {"running"}
        assert (status["site"], status["role"]) == ("local", "both")
        assert status["console"] == f"https://localhost:{config.api.port}"
        assert f"cat {config.paths.operator_token}" in node.output.read_text()
        assert "Sign in as admin with the one-time password" in node.output.read_text()
        assert node.call("status").returncode == 0
        assert config.data_dir.stat().st_mode & 0o777 == 0o700
        assert files_open_to_others(config) == []

        second = node.call("up")
        assert second.returncode == 2
        assert "A node is running already" in second.stderr

        api_pid = node.components()["api"].pid
        assert api_pid
        os.kill(api_pid, signal.SIGKILL)
        node.wait_until(lambda: node.components()["api"].restarts == 1)
        node.wait_until_ready()
        assert node.components()["api"].pid != api_pid
        assert node.components()["broker"].restarts == 0

        pids = node.pids()
        assert len(pids) >= 6, "five parts, and Spark's JVM"
        began_s = time.monotonic()
        down = node.call("down")
        assert time.monotonic() - began_s < STOP_TIMEOUT_S
        assert down.returncode == 0
        assert down.stdout.endswith("stopping broker\ndown\n")
        assert node.process.wait(5) == 0
        assert alive(pids) == []
        assert node.status() is None


def test_sigterm_stops_it_within_its_time(config: Config) -> None:
    with running_node(config) as node:
        node.wait_until_ready()
        pids = node.pids()
        assert node.stop_by(signal.SIGTERM) < STOP_TIMEOUT_S
        assert node.process.returncode == 0
        assert alive(pids) == []


def test_sigint_while_it_starts_stops_it_too(config: Config) -> None:
    with running_node(config) as node:
        node.wait_until(
            lambda: any(part.pid for part in node.components().values() if part.name == "pipeline")
        )
        pids = node.pids()
        assert node.stop_by(signal.SIGINT) < STOP_TIMEOUT_S
        assert alive(pids) == []


def test_kill_9_of_the_supervisor_leaves_nothing(config: Config) -> None:
    with running_node(config) as node:
        node.wait_until_ready()
        pids = node.pids()
        node.stop_by(signal.SIGKILL)
        deadline_s = time.monotonic() + 10
        while alive(pids) and time.monotonic() < deadline_s:
            time.sleep(0.1)
        assert alive(pids) == []
