"""`catchment register device`: what sensors belong to."""

from typing import Annotated

import typer

from catchment.cli.console import AsJson
from catchment.cli.names import Id
from catchment.cli.register import calls
from catchment.cli.register.calls import Description, OfSite, OnlySite, Title

app = typer.Typer(help="Machines and controllers that sensors belong to.", no_args_is_help=True)

PATH = "/api/v1/devices"
COLUMNS = ("site", "id", "name", "location", "description", "version")


@app.command()
def add(
    context: typer.Context,
    identifier: Id,
    name: Title = None,
    description: Description = "",
    location: Annotated[str, typer.Option(help="Where it stands, in words.")] = "",
    as_json: AsJson = False,
) -> None:
    """Register a device, or change it."""
    body = {"name": name or identifier, "description": description, "location": location}
    calls.put(context, f"{PATH}/{identifier}", body, as_json)


@app.command()
def show(context: typer.Context, identifier: Id, site: OfSite = None, as_json: AsJson = False) -> None:
    """Show a device."""
    calls.show(context, f"{PATH}/{identifier}", site, as_json)


@app.command("list")
def list_(context: typer.Context, site: OnlySite = None, as_json: AsJson = False) -> None:
    """List the devices of all sites."""
    calls.list_all(context, PATH, COLUMNS, as_json, site=site)


@app.command()
def remove(context: typer.Context, identifier: Id) -> None:
    """Remove a device that no sensor refers to."""
    calls.remove(context, f"{PATH}/{identifier}", identifier)
