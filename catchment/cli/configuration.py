"""`catchment config`: is it right, and what does it say."""

import os
from collections.abc import Iterator
from typing import Any

import typer

from catchment.cli.console import AsJson, configuration, print_json, print_table
from catchment.config import Config
from catchment.config.loading import file_in_use, known_keys, variable_of

app = typer.Typer(help="Check and show the configuration.", no_args_is_help=True)


@app.command()
def check(context: typer.Context) -> None:
    """Say whether the configuration is right, or what to change in it."""
    configuration(context)
    file = file_in_use(context.obj, os.environ)
    typer.echo(
        f"ok: {file}" if file else "ok: no file, every key has its default or comes from the environment"
    )


@app.command()
def show(context: typer.Context, as_json: AsJson = False) -> None:
    """List every key with its value and where it came from."""
    config = configuration(context)
    rows = list(_rows(config))
    if as_json:
        print_json({row["key"]: {"value": row["value"], "from": row["from"]} for row in rows})
    else:
        print_table(["key", "value", "from"], [{**row, "value": _text(row["value"])} for row in rows])


def _rows(config: Config) -> Iterator[dict[str, Any]]:
    values = config.model_dump(mode="json")
    defaults = Config().model_dump(mode="json")
    for key in known_keys():
        value = _look_up(values, key)
        yield {"key": key, "value": value, "from": _origin(key, value == _look_up(defaults, key))}


def _origin(key: str, is_default: bool) -> str:
    if variable_of(key) in os.environ:
        return variable_of(key)
    return "default" if is_default else "file"


def _look_up(values: dict[str, Any], key: str) -> Any:
    found: Any = values
    for name in key.split("."):
        found = found.get(name) if found else None
    return found


def _text(value: Any) -> str:
    return "" if value is None else str(value)
