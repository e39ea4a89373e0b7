"""`catchment register type`: what sensors of one kind measure."""

from typing import Annotated

import typer

from catchment.cli.console import AsJson
from catchment.cli.names import Id
from catchment.cli.register import calls
from catchment.cli.register.calls import Description, OfSite, OnlySite, Title

app = typer.Typer(help="What sensors of one kind measure.", no_args_is_help=True)

PATH = "/api/v1/sensor-types"
COLUMNS = ("site", "id", "name", "unit", "subject", "description", "version")


@app.command()
def add(
    context: typer.Context,
    identifier: Id,
    subject: Annotated[str, typer.Option(help="The Avro subject of its measurements.")],
    name: Title = None,
    description: Description = "",
    unit: Annotated[str, typer.Option(help="The usual unit.")] = "",
    as_json: AsJson = False,
) -> None:
    """Register a sensor type, or change it."""
    body = {"name": name or identifier, "description": description, "unit": unit, "subject": subject}
    calls.put(context, f"{PATH}/{identifier}", body, as_json)


@app.command()
def show(context: typer.Context, identifier: Id, site: OfSite = None, as_json: AsJson = False) -> None:
    """Show a sensor type."""
    calls.show(context, f"{PATH}/{identifier}", site, as_json)


@app.command("list")
def list_(context: typer.Context, site: OnlySite = None, as_json: AsJson = False) -> None:
    """List the sensor types of all sites."""
    calls.list_all(context, PATH, COLUMNS, as_json, site=site)


@app.command()
def remove(context: typer.Context, identifier: Id) -> None:
    """Remove a sensor type that no sensor refers to."""
    calls.remove(context, f"{PATH}/{identifier}", identifier)
