"""`catchment bench`: measure on the running node, and beside a peer."""

import signal
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from catchment.cli.console import configuration, errors, output, print_table

app = typer.Typer(help="Measure on the running node, beside a peer in the same run.", no_args_is_help=True)


class Benchmark(StrEnum):
    """What can be measured; each is a module of catchment.bench."""

    LEDGER = "ledger"
    PAGES = "pages"
    QUERIES = "queries"
    RACE = "race"
    RELAY = "relay"
    STORE = "store"
    TWINS = "twins"


@app.callback()
def bench() -> None:
    """Measure on the running node, beside a peer in the same run."""


@app.command("run")
def run_one(
    context: typer.Context,
    name: Annotated[Benchmark, typer.Argument(help="What to measure.")],
    short: Annotated[bool, typer.Option("--short", help="Measure for a shorter time.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON to this file.")
    ] = None,
) -> None:
    """Runs a benchmark and prints its figures and ratios."""
    import importlib

    # Like Ctrl-C, so that what was started for the run is ended and removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with errors.status(f"Measuring {name} …"):
        result = importlib.import_module(f"catchment.bench.{name}").run(configuration(context), short=short)
    if json_file:
        result.write(json_file)
    print_table(
        ("figure", "value", "unit"), [{"figure": key, **figure} for key, figure in result.figures.items()]
    )
    for ratio, value in result.ratios.items():
        output.print(f"{ratio}: {value:.2f}")
    for note in result.notes:
        output.print(f"Note: {note}")
