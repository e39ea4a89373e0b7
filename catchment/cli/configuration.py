"""`catchment config`: is it right, and what does it say."""

import os
from typing import Any

import typer

from catchment.cli.console import AsJson, configuration, print_json, print_table
from catchment.config.loading import file_in_use
from catchment.config.shown import settings_of

app = typer.Typer(help="Check and show the configuration.", no_args_is_help=True)


@app.command()
def check(context: typer.Context, as_json: AsJson = False) -> None:
    """Say whether the configuration is right, or what to change in it."""
    configuration(context)
    file = file_in_use(context.obj, os.environ)
    if as_json:
        print_json({"ok": True, "file": str(file) if file else None})
        return
    typer.echo(
        f"ok: {file}" if file else "ok: no file, every key has its default or comes from the environment"
    )


@app.command()
def show(context: typer.Context, as_json: AsJson = False) -> None:
    """List every key with its value and where it came from."""
    config = configuration(context)
    rows = [setting.model_dump() for setting in settings_of(config)]
    if as_json:
        print_json({row.pop("key"): row for row in rows})
    else:
        print_table(["key", "value", "from"], [{**row, "value": _text(row["value"])} for row in rows])


def _text(value: Any) -> str:
    return "" if value is None else str(value)
