"""What commands print with: tables and messages for people, JSON for programs."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console
from rich.table import Table

from catchment.config import Config, load
from catchment.errors import CatchmentError

# A pipe or a file has no width to fit into, and folded cells help nobody there.
_WIDE = 200

output = Console()
if not output.is_terminal:
    output.width = _WIDE
errors = Console(stderr=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


# Commands that change the data directory themselves; those that go through the API are noted there.
LOCAL_CHANGES = {
    f"{group} {verb}"
    for group, verbs in {
        "user": ("add", "role", "password", "remove"),
        "token": ("create", "revoke"),
        "provider": ("add", "remove"),
        "consumer": ("add", "remove"),
        "site": ("invite", "withdraw", "add", "join", "pause", "resume", "remove"),
    }.items()
    for verb in verbs
}


def configuration(context: typer.Context) -> Config:
    """The configuration that the command was called with; a change is noted in the audit log when it ends."""
    config = load(context.obj)
    command = " ".join(_path(context))
    if command in LOCAL_CHANGES:
        context.call_on_close(lambda: _note(config, command, context.params))
    return config


def _path(context: typer.Context) -> list[str]:
    """The words of a command, without the program's own name."""
    words: list[str] = []
    # Typer has a type of its own for the context, and another one for its parents.
    each: Any = context
    while each.parent is not None:
        words.insert(0, each.info_name or "")
        each = each.parent
    return words


def _note(config: Config, command: str, parameters: Mapping[str, Any]) -> None:
    from catchment.audit.entry import entry, shell_user
    from catchment.audit.journal import AuditJournal

    error = sys.exc_info()[1]
    outcome = error.exit_code if isinstance(error, CatchmentError) else int(error is not None)
    target = str(parameters.get("name") or parameters.get("centre") or "")
    if config.data_dir.exists():
        noted = entry(config.site, shell_user(), command, target, outcome)
        AuditJournal(config.paths.audit).append(noted)


def working(what: str) -> AbstractContextManager[object]:
    """Shows on a terminal that something takes its time; to be used for whatever may last for a second."""
    return errors.status(f"{what} …")


def print_json(value: Any) -> None:
    typer.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def print_table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Prints one row a mapping; columns are keys, underscores shown as spaces."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        numeric = bool(rows) and all(isinstance(row[column], int | float) for row in rows)
        table.add_column(column.replace("_", " "), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(row[column]) for column in columns))
    output.print(table)


def _cell(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
