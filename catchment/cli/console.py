"""What commands print with: tables and messages for people, JSON for programs."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import orjson
import typer
from rich.console import Console
from rich.table import Table

from catchment.config import Config, load

# A pipe or a file has no width to fit into, and folded cells help nobody there.
_WIDE = 200

output = Console()
if not output.is_terminal:
    output.width = _WIDE
errors = Console(stderr=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def configuration(context: typer.Context) -> Config:
    """The configuration that the command was called with."""
    return load(context.obj)


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
