"""Every command of the tutorial, in its order, on a real node; outputs are compared where they are shown."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from catchment.config.loading import FILE_VARIABLE
from tests.running_node import RunningNode, clean_environment
from tests.snippets import python_of

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
# The node of the tests runs already, goes on running, and has its command on the path.
LEFT_OUT = ("make up", "export PATH=$PWD/.venv/bin:$PATH", "catchment down")
OUTPUT_TIMEOUT_S = 90.0
_BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
# Dates, times, and milliseconds since 1970.
_CHANGING = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\d{10,}")
_END = "--- end of block:"


class Shell:
    """One shell for the whole tutorial, as its reader has."""

    def __init__(self, node: RunningNode, directory: Path) -> None:
        (directory / "var").symlink_to(node.config.data_dir)
        self._port = node.config.gateway.port
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self._bash = subprocess.Popen(
            ["bash"],
            cwd=directory,
            env={
                **clean_environment(),
                "PATH": path,
                "COLUMNS": "300",
                FILE_VARIABLE: str(node.config.data_dir / "catchment.yaml"),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, block: str) -> str:
        """What a block prints; each of its commands has to succeed."""
        assert self._bash.stdin
        assert self._bash.stdout
        block = block.replace("127.0.0.1:8992", f"127.0.0.1:{self._port}")
        self._bash.stdin.write(f"set -e\n{block}\nset +e\necho '{_END}'\n")
        self._bash.stdin.flush()
        said = ""
        while (line := self._bash.stdout.readline()) != f"{_END}\n":
            # A command that fails ends the shell.
            assert line, f"{block}\nprinted\n{said}"
            said += line
        return said

    def close(self) -> None:
        self._bash.communicate(timeout=20)


@pytest.fixture
def shell(whole_node: RunningNode, tmp_path: Path) -> Iterator[Shell]:
    whole_node.wait_until_ready()
    opened = Shell(whole_node, tmp_path)
    yield opened
    opened.close()


def steps() -> list[tuple[str, str]]:
    """Each block of commands with the output that is shown after it, if any is."""
    blocks = _BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    found: list[tuple[str, str]] = []
    for language, text in blocks:
        if language == "sh":
            found.append((text, ""))
        else:
            found[-1] = (found[-1][0], text)
    return found


def shows(said: str, expected: str) -> bool:
    """Whether every line of the expected output is there, whatever its times and column widths."""
    lines = [" ".join(line.split()) for line in said.splitlines()]
    patterns = [_pattern(" ".join(line.split())) for line in expected.splitlines()]
    return all(any(pattern.fullmatch(line) for line in lines) for pattern in patterns)


def _pattern(line: str) -> re.Pattern[str]:
    parts = _CHANGING.split(line)
    return re.compile(r"\S+".join(".*".join(map(re.escape, part.split("…"))) for part in parts))


def test_the_tutorial_leads_to_an_alert(shell: Shell) -> None:
    for block, expected in steps():
        if block.strip() in LEFT_OUT:
            continue
        # What is shown is looked for: a table that is not there yet is a refusal at first.
        patient = f"{block.strip()} || true" if expected else block
        said = shell.run(patient)
        last = patient.splitlines()[-1]
        deadline_s = time.monotonic() + OUTPUT_TIMEOUT_S
        while not shows(said, expected):
            assert time.monotonic() < deadline_s, f"{block}\nprinted\n{said}\nand not\n{expected}"
            # What was sent takes its way: a reader looks again.
            time.sleep(1)
            said = shell.run(last)


def test_outputs_are_compared() -> None:
    said = "site   stream  at\nlocal  kiln-1  2026-11-17 18:17:12  above 200 °C\n"
    assert shows(said, "local  kiln-1  2026-11-18 09:00:00  above …\n")
    assert not shows(said, "local  kiln-1  2026-11-18 09:00:00  below …\n")
    assert not shows(said, "local  kiln-1\n")


def test_the_recipe_for_devices_sends(whole_node: RunningNode, monkeypatch: pytest.MonkeyPatch) -> None:
    whole_node.wait_until_ready()
    assert whole_node.call("provider", "add", "press-7").returncode == 0
    monkeypatch.chdir(whole_node.config.paths.identities)
    recipe = python_of("connect-a-device.md", "sendall")
    local = recipe.replace('("gateway.example", 8992)', f'("127.0.0.1", {whole_node.config.gateway.port})')
    exec(local.replace("gateway.example", "localhost"), {})
    whole_node.wait_until(lambda: '"press-7"' in whole_node.call("verify", "--json", "--wait-s", "1").stdout)
    assert whole_node.call("provider", "remove", "press-7").returncode == 0
