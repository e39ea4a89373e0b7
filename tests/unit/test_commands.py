"""The whole command line: every command has an example that it takes, and prints data as JSON too."""

import ast
import io
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console
from typer.core import TyperGroup
from typer.testing import CliRunner

from catchment.cli import console, tree
from catchment.cli.examples import EXAMPLES
from catchment.cli.main import app
from catchment.cli.reference import commands

CALLABLE = {
    name.removeprefix("catchment "): command
    for name, command in commands()
    if not isinstance(command, TyperGroup) or command.invoke_without_command
}
# They run until they are stopped, or print for a shell.
WITHOUT_DATA = {
    *("up", "down", "relay", "pipeline", "notify", "serve", "gateway"),
    *("site up", "centre up", "completion"),
}
# They do what they are told, and say that they did.
CONFIRMING = {"remove", "revoke", "pause", "resume", "stop", "enable", "disable", "role", "test"}
CONFIRMED = {"site add"}


def prints_data(name: str) -> bool:
    is_confirming = name.rpartition(" ")[2] in CONFIRMING and name != "query test"
    return name not in WITHOUT_DATA | CONFIRMED and not is_confirming


@pytest.mark.parametrize("name", CALLABLE)
def test_a_command_shows_an_example_and_prints_data_as_json(name: str) -> None:
    options = {option for parameter in CALLABLE[name].params for option in parameter.opts}
    assert prints_data(name) <= ("--json" in options)
    told = CliRunner().invoke(app, [*name.split(), "--help"])
    assert told.exit_code == 0
    assert f"Example: catchment {EXAMPLES[name][0]}"[:60] in told.output


@pytest.mark.parametrize(
    ("name", "example"), [(name, each) for name, all_ in EXAMPLES.items() for each in all_]
)
def test_an_example_is_one_of_its_command_which_takes_it(name: str, example: str) -> None:
    command: Any = typer.main.get_command(app)
    words = shlex.split(example)
    with command.make_context("catchment", words) as context:
        rest = [*context._protected_args, *context.args]
        for word in name.split():
            assert rest.pop(0) == word
            command = command.get_command(context, word)
        with command.make_context(name, rest, parent=context) as inner:
            assert not isinstance(command, TyperGroup) or command.invoke_without_command
            assert inner.args == []


def test_there_is_no_example_of_a_command_that_is_gone() -> None:
    assert EXAMPLES.keys() == CALLABLE.keys()


@pytest.mark.parametrize("name", tree.COMMANDS)
def test_the_sentence_of_the_list_is_that_of_the_command(name: str) -> None:
    help_ = tree.loaded(name).help or ""
    assert " ".join(help_.split("\n\n")[0].split()) == tree.COMMANDS[name][1]


def test_the_list_of_commands_loads_none_of_them() -> None:
    program = "import sys; sys.argv[1:] = ['--help']\ntry:\n    import catchment.cli.main as m; m.run()\n"
    program += "finally:\n    print(sorted(each for each in sys.modules if '.' in each))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = set(ast.literal_eval(done.stdout.splitlines()[-1]))
    ours = {each for each in modules if each.startswith("catchment.")}
    assert ours == {"catchment.cli", "catchment.errors"} | {
        f"catchment.cli.{each}" for each in ("main", "tree", "examples")
    }
    assert not modules & {"pydantic.main", "httpx._client", "rich.console"}


def completed(shell: str, words: str) -> list[str]:
    """What the program suggests to a shell for an unfinished line."""
    names = {"bash": {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}}
    names["zsh"] = {"_TYPER_COMPLETE_ARGS": words}
    environment = {"_CATCHMENT_COMPLETE": f"complete_{shell}", **names[shell]}
    done = CliRunner().invoke(app, [], prog_name="catchment", env=environment)
    return done.output.splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_commands_and_options_are_completed(shell: str) -> None:
    text = " ".join(completed(shell, "catchment ver"))
    assert "verify" in text
    assert "register" not in text
    assert "add" in " ".join(completed(shell, "catchment rules a"))
    assert "--above" in " ".join(completed(shell, "catchment rules add --ab"))


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_what_completes_is_a_program_of_the_shell(shell: str, tmp_path: Path) -> None:
    script = CliRunner().invoke(app, ["completion", shell])
    assert script.exit_code == 0
    assert "_CATCHMENT_COMPLETE" in script.output
    if shutil.which(shell):
        file = tmp_path / "completion"
        file.write_text(script.output)
        subprocess.run([shell, "-n", str(file)], check=True)


@pytest.mark.parametrize("width", [40, 80])
def test_a_table_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(console, "output", Console(file=shown, force_terminal=True, width=width))
    long = "a sentence that is much longer than any terminal is wide, and goes on " * 3
    console.print_table(["name", "detail", "count"], [{"name": "x" * 50, "detail": long, "count": 12_345}])
    plain = [line for line in shown.getvalue().splitlines() if "\x1b" not in line]
    assert plain
    assert max(map(len, plain)) <= width
    assert "12,345" in shown.getvalue()
