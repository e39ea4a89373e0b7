"""What is left of processes: those of a killed node, and what they wrote."""

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from catchment.config import Config
from catchment.node.process import Child, birth, last_words, rotate
from catchment.node.remains import MARK, Remains


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config.model_validate({"data_dir": tmp_path})


def wait_until(reached: Callable[[], bool], timeout_s: float = 15) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not reached():
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


def leave_behind(marked: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, MARK: str(marked)}
    return subprocess.Popen(["sleep", "600"], env=environment, start_new_session=True)


def write_remains(config: Config, pid: int, born: int | None) -> Remains:
    config.paths.run.mkdir(parents=True, exist_ok=True)
    config.paths.processes.write_bytes(orjson.dumps({"gateway": {"pid": pid, "born": born}}))
    return Remains(config.paths.processes, config.data_dir)


def test_what_a_killed_node_left_is_removed(config: Config) -> None:
    left = leave_behind(config.data_dir)
    assert write_remains(config, left.pid, birth(left.pid)).sweep() == ["gateway"]
    left.wait(5)
    assert birth(left.pid) is None
    assert not config.paths.processes.exists()


@pytest.mark.parametrize("stranger", ["another birth", "another data directory"])
def test_a_stranger_with_the_same_number_is_spared(config: Config, stranger: str) -> None:
    marked = config.data_dir if stranger == "another birth" else config.data_dir / "else"
    process = leave_behind(marked)
    born = birth(process.pid)
    assert born
    recorded = born - 1 if stranger == "another birth" else born
    try:
        assert write_remains(config, process.pid, recorded).sweep() == []
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def test_a_log_that_grew_too_long_is_moved_while_its_writer_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("catchment.node.process.MAX_LOG_BYTES", 1000)
    log = tmp_path / "part.log"
    writer = """
        import time
        print("x" * 2000, flush=True)
        time.sleep(1)
        print("later", flush=True)
        time.sleep(600)
    """
    child = Child([sys.executable, "-c", textwrap.dedent(writer)], os.environ, log)
    try:
        wait_until(lambda: log.stat().st_size > 1000)
        rotate(log)
        wait_until(lambda: log.read_text() == "later\n")
    finally:
        child.kill()
    assert log.with_name("part.log.1").read_text() == "x" * 2000 + "\n"
    assert {log.stat().st_mode & 0o777, log.with_name("part.log.1").stat().st_mode & 0o777} == {0o600}


def test_last_words_are_the_last_line_that_says_something(tmp_path: Path) -> None:
    log = tmp_path / "part.log"
    assert last_words(log) == ""
    log.write_bytes(b"")
    assert last_words(log) == ""
    log.write_bytes(b"x" * 10_000 + b"\nfirst\nlast \xff words\n\n")
    assert last_words(log) == "last \N{REPLACEMENT CHARACTER} words"
