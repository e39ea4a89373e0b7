"""The reference page of every command, generated from them: `python -m catchment.cli.reference`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.core import TyperCommand, TyperGroup

from catchment.cli.main import app

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "command-line.md"

_HEAD = """# Command line

Options of `catchment` itself come before the command: `catchment --config FILE status`. `--help` after any
command explains it. A command that prints a table prints the same as JSON with `--json`; a benchmark writes
it to a file.

| exit code | meaning |
|---|---|
| 0 | done, or what was asked holds |
| 1 | what was asked does not hold, or failed |
| 2 | wrong usage, wrong configuration, or a machine that lacks something |

A failure is one message on the error output: its [code](errors.md), what happened, and what to change.

This page is generated from the commands: `python -m catchment.cli.reference --write`.
"""

_COLUMNS = "| | meaning |\n|---|---|\n"
_UNIVERSAL = "help"


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *(_section(name, command) for name, command in commands())])


def commands() -> Iterator[tuple[str, TyperCommand | TyperGroup]]:
    """The program and all its commands and groups, each with its full name."""
    program = typer.main.get_command(app)
    assert isinstance(program, TyperGroup)
    yield "catchment", program
    yield from _below(program, "catchment")


def _below(group: TyperGroup, prefix: str) -> Iterator[tuple[str, TyperCommand | TyperGroup]]:
    context = typer.Context(group, info_name=prefix)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert isinstance(command, TyperCommand | TyperGroup)
        yield f"{prefix} {name}", command
        if isinstance(command, TyperGroup):
            yield from _below(command, f"{prefix} {name}")


def _section(name: str, command: TyperCommand | TyperGroup) -> str:
    depth = min(name.count(" "), 2)
    context = typer.Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    parts = [f"{'#' * (2 + depth)} `{name}`\n\n{command.help}\n"]
    if not isinstance(command, TyperGroup) or not depth:
        parts.append(f"```sh\n{usage}\n```\n")
    if command.epilog:
        examples = "\n".join(line.removeprefix("Example: ") for line in command.epilog.split("\n\n"))
        parts.append(f"For example\n\n```sh\n{examples}\n```\n")
    rows = list(_rows(command, context))
    if rows:
        parts.append(_COLUMNS + "".join(rows))
    return "\n".join(parts)


def _rows(command: TyperCommand | TyperGroup, context: typer.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record and parameter.name != _UNIVERSAL:
            name, meaning = (text.replace("|", "\\|") for text in record)
            yield f"| `{name}` | {meaning} |\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        sys.stdout.write(page())
