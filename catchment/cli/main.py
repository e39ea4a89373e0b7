"""The entry point: global options, the command groups, and how errors reach people."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from catchment import __version__
from catchment.cli import (
    alerts,
    bench,
    centre,
    configuration,
    consume,
    consumer,
    deadletter,
    gateway,
    lake,
    node,
    notify,
    pipeline,
    provider,
    register,
    relay,
    rules,
    serve,
    simulate,
    site,
    token,
    twins,
    verify,
)
from catchment.cli.console import errors
from catchment.errors import CatchmentError

app = typer.Typer(
    name="catchment",
    help="Gathers the data streams of many sites into one place without losing a drop.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
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


node.add_to(app)
app.add_typer(configuration.app, name="config")
app.add_typer(site.app, name="site")
app.add_typer(centre.app, name="centre")
app.add_typer(provider.app, name="provider")
app.add_typer(consumer.app, name="consumer")
app.add_typer(token.app, name="token")
app.add_typer(register.app, name="register")
app.add_typer(rules.app, name="rules")
app.add_typer(twins.app, name="twins")
app.add_typer(deadletter.app, name="deadletter")
app.add_typer(simulate.app, name="simulate")
app.add_typer(alerts.app, name="alerts")
app.add_typer(bench.app, name="bench")
app.add_typer(gateway.app, name="gateway")
app.add_typer(lake.app, name="lake")
lake.add_to(app)
consume.add_to(app)
relay.add_to(app)
pipeline.add_to(app)
notify.add_to(app)
serve.add_to(app)
verify.add_to(app)


def run() -> None:
    """Runs a command; every error of ours becomes one message and its exit code."""
    try:
        app()
    except CatchmentError as error:
        errors.print(f"[bold red]{error.code}[/]: {escape(str(error))}", highlight=False, soft_wrap=True)
        sys.exit(error.exit_code)
