"""`catchment simulate`: devices that are not there."""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from catchment.cli.console import AsJson, configuration, errors, output, print_json
from catchment.config import Config
from catchment.simulate.temperature import Curve, Unit

if TYPE_CHECKING:
    from catchment.client import Session

Send = Callable[[asyncio.Event, Callable[[int], None]], Awaitable[None]]

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
    from catchment.simulate.lines import Load, send

    load = Load(providers=providers, count=count, rate=rate, line_bytes=line_bytes, seed=seed, name=name)
    config = configuration(context)
    _send("lines", count, as_json, lambda stop, note: send(config, load, stop, note))


@app.command()
def sensors(
    context: typer.Context,
    sensor: Annotated[str, typer.Option(help="Its id; of several, the beginning of their ids.")] = "sim",
    sensors: Annotated[int, typer.Option(min=1, max=99_999, help="Number of sensors.")] = 1,
    start: Annotated[float, typer.Option(help="Temperature at the start.")] = 20,
    target: Annotated[float, typer.Option(help="Temperature in the end; half-way after 21 s.")] = 80,
    unit: Annotated[Unit, typer.Option(help="Unit of the temperatures.")] = Unit.C,
    noise: Annotated[float, typer.Option(min=0, help="Readings are off by up to so much.")] = 0.5,
    spikes: Annotated[float, typer.Option(min=0, max=1, help="Share of readings with a spike.")] = 0.001,
    spike_size: Annotated[float, typer.Option(min=0, help="How far a spike is off.")] = 20,
    interval: Annotated[
        int, typer.Option(min=1, metavar="MS", help="Between two readings of a sensor.")
    ] = 1000,
    count: Annotated[int, typer.Option(min=0, help="Readings in all; 0 for no end.")] = 0,
    providers: Annotated[int, typer.Option(min=1, max=1000, help="Connections that the sensors share.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same readings.")] = 1,
    gateway: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="The gateway; by default this node's.")
    ] = None,
    registry: Annotated[
        str | None, typer.Option(metavar="URL", help="The API to register at; by default this node's.")
    ] = None,
    register: Annotated[
        bool, typer.Option("--register", help="Register the sensors, and a mapping for what they send.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Sends temperatures of one or many sensors to the gateway over TLS, as lines of JSON."""
    from catchment.simulate import sensors as simulation

    config = configuration(context)
    plant = simulation.Plant(
        name=sensor,
        count=sensors,
        providers=min(providers, sensors),
        curve=Curve(start, target, noise, spikes, spike_size),
        unit=unit,
        interval_ms=interval,
        seed=seed,
    )
    if register or registry:
        with _session(config, registry) as session:
            simulation.register(session, plant)
    reached = _at(config, gateway)
    _send("readings", count, as_json, lambda stop, note: simulation.send(reached, plant, count, stop, note))


@app.command()
def twins(
    context: typer.Context,
    devices: Annotated[int, typer.Option(min=1, max=10_000, help="Number of devices.")] = 1,
    objects: Annotated[int, typer.Option(min=1, max=5_000, help="Objects of each device.")] = 10,
    interval: Annotated[
        int, typer.Option("--interval-ms", min=1, metavar="MS", help="Between two messages of a device.")
    ] = 1000,
    count: Annotated[int, typer.Option(min=0, help="Messages in all; 0 for no end.")] = 0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same messages.")] = 1,
    name: Annotated[
        str, typer.Option(help="The devices' streams are twins-NAME-1 and so on, their objects NAME-1-1.")
    ] = "sim",
    gateway: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="The gateway; by default this node's.")
    ] = None,
    registry: Annotated[
        str | None, typer.Option(metavar="URL", help="The API to declare at; by default this node's.")
    ] = None,
    declare: Annotated[
        bool, typer.Option("--declare", help="Declare the objects' type, and a feed of what is sent.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Sends messages to digital twins, over TLS: a random value and a counter for every object."""
    from catchment.simulate import twins as simulation

    config = configuration(context)
    fleet = simulation.Fleet(name=name, devices=devices, objects=objects, interval_ms=interval, seed=seed)
    if declare or registry:
        with _session(config, registry) as session:
            simulation.declare(session)
    reached = _at(config, gateway)
    _send("messages", count, as_json, lambda stop, note: simulation.send(reached, fleet, count, stop, note))


def _session(config: Config, url: str | None) -> "Session":
    from catchment.client import Session, local_session

    if url is None:
        return local_session(config)
    token = config.paths.operator_token.read_text().strip()
    return Session(url, token, config.paths.identities / "ca.crt")


def _at(config: Config, gateway: str | None) -> Config:
    """The configuration with the gateway at another address."""
    if gateway is None:
        return config
    host, colon, port = gateway.rpartition(":")
    if not (host and colon and port.isdecimal()):
        raise typer.BadParameter("--gateway is written HOST:PORT.")
    at = config.gateway.model_copy(update={"host": host.strip("[]"), "port": int(port)})
    return config.model_copy(update={"gateway": at})


def _send(what: str, count: int, as_json: bool, send: Send) -> None:
    """Runs a simulation until it ends or is stopped, shows how far it is, and says what it came to."""
    import uvloop

    sent = 0
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())

    async def send_until_stopped(progress: Progress) -> None:
        task = progress.add_task(what, total=count or None)

        def note(newly_safe: int) -> None:
            nonlocal sent
            sent += newly_safe
            progress.advance(task, newly_safe)

        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await send(stop, note)

    began_at = time.monotonic()
    with Progress(*columns, console=errors, disable=not errors.is_terminal) as progress:
        uvloop.run(send_until_stopped(progress))
    seconds = time.monotonic() - began_at
    if as_json:
        print_json({"sent": sent, "seconds": round(seconds, 3), "rate_per_s": round(sent / seconds, 1)})
    else:
        output.print(f"sent {sent:,} {what} in {seconds:.1f} s, {sent / seconds:,.0f} a second")
