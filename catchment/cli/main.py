"""The entry point: global options, and how errors reach people. Commands are loaded when they are called."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from catchment import __version__
from catchment.cli.tree import LazyGroup
from catchment.errors import CatchmentError

app = typer.Typer(
    name="catchment",
    cls=LazyGroup,
    help="Gathers the data streams of many sites into one place without losing a drop.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Boxes and colours would take twice the time of all the rest.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"catchment {__version__}")
        raise typer.Exit


@app.callback()
def main(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", metavar="FILE", help="The configuration file.")
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    # Loaded where a command needs it: help and version must work with a broken file.
    context.obj = config


def run() -> None:
    """Runs a command; every error of ours becomes one message and its exit code."""
    try:
        app()
    except CatchmentError as error:
        from rich.markup import escape

        from catchment.cli.console import errors

        errors.print(f"[bold red]{error.code}[/]: {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(error.exit_code)
