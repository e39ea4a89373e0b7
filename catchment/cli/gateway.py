"""`catchment gateway`: the listener for devices, and its spool."""

import typer

from catchment.cli.console import AsJson, configuration, output, print_json, print_table, working
from catchment.errors import NotFound

app = typer.Typer(help="Run the gateway alone, or look at its spool.", invoke_without_command=True)


@app.callback()
def gateway(context: typer.Context) -> None:
    """Runs the gateway alone, in the foreground; `catchment up` runs it with all the rest."""
    if context.invoked_subcommand is None:
        from catchment.gateway.service import run

        run(configuration(context))


@app.command()
def spool(context: typer.Context, as_json: AsJson = False) -> None:
    """Shows what stands in the spool, by stream, and whether all of it is sound; exit code 1 if not."""
    from catchment.gateway.spool.inspection import inspect

    config = configuration(context)
    if not (config.paths.spool / "progress.json").exists():
        raise NotFound(
            f"There is no spool in {config.paths.spool}", "It is made when a gateway first starts."
        )
    with working("Reading the spool"):
        content = inspect(config.paths.spool)
    if as_json:
        print_json(content.model_dump())
    else:
        columns = ("stream", "epoch", "first", "last", "records", "waiting")
        rows = [each.model_dump() | {"epoch": str(each.epoch)} for each in content.streams]
        print_table(columns, rows)
        output.print(
            f"{content.bytes_waiting:,} bytes wait to be safe, {content.bytes_on_disk:,} on disk in "
            f"{content.segments} segments, {content.dead_letters:,} dead letters"
        )
        output.print(content.damage or "All of it is sound.")
    raise typer.Exit(1 if content.damage else 0)
