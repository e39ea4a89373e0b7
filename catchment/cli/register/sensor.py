"""`catchment register sensor`: sensors that are known, and those that wait to be confirmed."""

from typing import Annotated

import typer

from catchment.cli.console import AsJson
from catchment.cli.names import Id
from catchment.cli.register import calls
from catchment.cli.register.calls import Description, OfSite, OnlySite, Title

app = typer.Typer(help="Sensors, and those that were seen and wait to be confirmed.", no_args_is_help=True)

PATH = "/api/v1/sensors"
COLUMNS = ("site", "id", "registered", "name", "device_id", "sensor_type_id", "version")


@app.command()
def add(
    context: typer.Context,
    identifier: Id,
    device: Annotated[str, typer.Option(help="The device that it belongs to.")],
    sensor_type: Annotated[str, typer.Option("--type", help="What it measures: its sensor type.")],
    name: Title = None,
    description: Description = "",
    as_json: AsJson = False,
) -> None:
    """Register a sensor, or change it."""
    body = {
        "name": name or identifier,
        "description": description,
        "device_id": device,
        "sensor_type_id": sensor_type,
    }
    calls.put(context, f"{PATH}/{identifier}", body, as_json)


@app.command()
def confirm(
    context: typer.Context,
    identifier: Id,
    device: Annotated[
        str | None, typer.Option(help="Its device; by default the one named like its stream.")
    ] = None,
    sensor_type: Annotated[
        str | None, typer.Option("--type", help="Its type; by default the only one of its subject.")
    ] = None,
    name: Title = None,
    description: Description = "",
    as_json: AsJson = False,
) -> None:
    """Register a sensor that was seen."""
    given = {"name": name, "device_id": device, "sensor_type_id": sensor_type, "description": description}
    with calls.api(context) as session:
        calls.say_written(session.post(f"{PATH}/{identifier}/confirm", given), as_json)


@app.command()
def show(context: typer.Context, identifier: Id, site: OfSite = None, as_json: AsJson = False) -> None:
    """Show a sensor, with its first measurement if it has sent one."""
    calls.show(context, f"{PATH}/{identifier}", site, as_json)


@app.command("list")
def list_(
    context: typer.Context,
    site: OnlySite = None,
    unregistered: Annotated[
        bool, typer.Option("--unregistered", help="Only those that wait to be confirmed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the sensors of all sites."""
    registered = "false" if unregistered else None
    calls.list_all(context, PATH, COLUMNS, as_json, site=site, registered=registered)


@app.command()
def remove(context: typer.Context, identifier: Id) -> None:
    """Remove a sensor."""
    calls.remove(context, f"{PATH}/{identifier}", identifier)
