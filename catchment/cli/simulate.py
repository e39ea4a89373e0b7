"""`catchment simulate`: devices that are not there."""

import asyncio
import signal
import time
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from catchment.cli.console import AsJson, configuration, errors, output, print_json

app = typer.Typer(help="Simulated devices, through the real listeners.", no_args_is_help=True)


@app.callback()
def simulate() -> None:
    """Simulated devices, through the real listeners."""


@app.command()
def lines(
    context: typer.Context,
    rate: Annotated[
        float, typer.Option(min=0, help="Lines a second in all; 0 for as fast as it goes.")
    ] = 100,
    count: Annotated[int, typer.Option(min=0, help="Lines in all; 0 for no end.")] = 1000,
    providers: Annotated[int, typer.Option(min=1, max=10_000, help="Number of providers.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same lines.")] = 1,
    line_bytes: Annotated[int, typer.Option("--bytes", min=13, help="Length of a line.")] = 100,
    name: Annotated[str, typer.Option(help="The providers are NAME-1, NAME-2 and so on.")] = "sim",
    as_json: AsJson = False,
) -> None:
    """Sends numbered lines of text to the gateway over TLS."""
    import uvloop

    from catchment.simulate.lines import Load, send

    load = Load(providers=providers, count=count, rate=rate, line_bytes=line_bytes, seed=seed, name=name)
    config = configuration(context)
    sent = 0
    columns = (TextColumn("lines"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())

    async def send_until_stopped(progress: Progress) -> None:
        task = progress.add_task("lines", total=count or None)

        def note(lines_sent: int) -> None:
            nonlocal sent
            sent += lines_sent
            progress.advance(task, lines_sent)

        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await send(config, load, stop, note)

    began_at = time.monotonic()
    with Progress(*columns, console=errors, disable=not errors.is_terminal) as progress:
        uvloop.run(send_until_stopped(progress))
    seconds = time.monotonic() - began_at
    if as_json:
        print_json({"sent": sent, "seconds": round(seconds, 3), "rate_per_s": round(sent / seconds, 1)})
    else:
        output.print(f"sent {sent:,} lines in {seconds:.1f} s, {sent / seconds:,.0f} a second")
