"""`catchment lake`, `sql` and `export`: the lake's tables, questions about them, and files of their rows."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from catchment.cli.console import AsJson, configuration, errors, output, print_json, print_table, working

app = typer.Typer(help="The lake's tables.", no_args_is_help=True)

_TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"]
_COLUMNS = ("name", "rows", "bytes", "files", "version", "first_day", "last_day", "description")


@app.command("list")
def list_tables(context: typer.Context, as_json: AsJson = False) -> None:
    """Lists the tables with their rows, bytes and days."""
    from catchment.lake.catalogue import tables_of
    from catchment.lake.tables import lake_of

    with working("Looking at the tables"):
        tables = [table.model_dump() for table in tables_of(lake_of(configuration(context)))]
    if as_json:
        print_json(tables)
    else:
        print_table(_COLUMNS, tables)


def add_to(app: typer.Typer) -> None:
    """Adds the commands that stand beside the group."""
    app.command()(sql)
    app.command()(export)


def sql(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="One SELECT, as DuckDB understands it.")],
    as_json: AsJson = False,
    limit: Annotated[int, typer.Option(min=1, help="Most rows that are shown.")] = 1000,
) -> None:
    """Asks the lake of this node in SQL."""
    from catchment.lake.answers import answer_of
    from catchment.lake.sql import ask
    from catchment.lake.tables import lake_of

    config = configuration(context)
    with (
        working("Asking the lake"),
        ask(lake_of(config), question, config.lake.analysis) as reader,
    ):
        answer = answer_of(reader, limit)
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    if as_json:
        print_json(rows)
    else:
        print_table(answer.columns, rows)
    if not answer.complete:
        errors.print(f"There are more rows: these are the first {limit:,}. See --limit.")


def export(
    context: typer.Context,
    table: Annotated[str, typer.Argument(help="A table of `catchment lake list`.")],
    to: Annotated[Path, typer.Option(help="The file to write: .parquet or .csv.")],
    since: Annotated[datetime | None, typer.Option(formats=_TIMES, help="The first time, in UTC.")] = None,
    until: Annotated[
        datetime | None, typer.Option(formats=_TIMES, help="The time before which it ends, in UTC.")
    ] = None,
    where: Annotated[str | None, typer.Option(metavar="SQL", help="A condition on its columns.")] = None,
    as_json: AsJson = False,
) -> None:
    """Writes the rows of a table to a file, in the order of time."""
    from catchment.lake.export import rows_of
    from catchment.lake.files import form_of, write_file
    from catchment.lake.tables import lake_of

    config, form = configuration(context), form_of(to)
    # On the node's own machine a large file may take its time.
    limits = config.lake.analysis.model_copy(update={"timeout_s": 24 * 3600.0})
    with (
        working(f"Writing {to}"),
        rows_of(lake_of(config), limits, table, since, until, where, form) as reader,
    ):
        rows = write_file(reader, form, to)
    if as_json:
        print_json({"table": table, "file": str(to), "rows": rows})
    else:
        output.print(f"{rows:,} rows in {to}")
