"""`catchment register twin-feed`: which streams and measurements changes of twins come from."""

from typing import Annotated, Any

import typer

from catchment.cli.console import AsJson
from catchment.cli.names import Id, pairs
from catchment.cli.register import calls
from catchment.cli.register.calls import Description, OfSite, OnlySite

app = typer.Typer(help="Which streams and measurements changes of twins come from.", no_args_is_help=True)

PATH = "/api/v1/twin-feeds"
COLUMNS = ("site", "id", "source", "type", "description", "version")

Pairs = Annotated[
    list[str] | None,
    typer.Option("--value", metavar="NAME=FIELD", help="A value from a field; by default all. Repeat it."),
]


@app.command()
def add(
    context: typer.Context,
    identifier: Id,
    streams: Annotated[
        str | None, typer.Option(help="Streams whose records are messages to twins: * for any characters.")
    ] = None,
    subject: Annotated[
        str | None, typer.Option(help="The Avro subject of measurements that become values.")
    ] = None,
    sensor: Annotated[str, typer.Option(help="Of which sensors: * for any characters, ? for one.")] = "*",
    to: Annotated[
        str, typer.Option("--object", help="The object's id, with {sensor} or {device} in it.")
    ] = "{sensor}",
    value: Pairs = None,
    type_: Annotated[
        str | None, typer.Option("--type", help="Of which type objects are made that are not there yet.")
    ] = None,
    description: Description = "",
    as_json: AsJson = False,
) -> None:
    """Declare where changes of twins come from, or change it."""
    if (streams is None) == (subject is None):
        raise typer.BadParameter("Give either --streams or --subject.")
    source: dict[str, Any] = {"streams": streams}
    if subject is not None:
        source = {"subject": subject, "sensor": sensor, "object": to, "values": pairs("--value", value)}
    body = {"description": description, "source": source, "type": type_}
    calls.put(context, f"{PATH}/{identifier}", body, as_json)


@app.command()
def show(context: typer.Context, identifier: Id, site: OfSite = None, as_json: AsJson = False) -> None:
    """Show a feed of twins."""
    calls.show(context, f"{PATH}/{identifier}", site, as_json)


@app.command("list")
def list_(context: typer.Context, site: OnlySite = None, as_json: AsJson = False) -> None:
    """List the feeds of twins."""
    calls.list_all(context, PATH, COLUMNS, as_json, site=site)


@app.command()
def remove(context: typer.Context, identifier: Id) -> None:
    """Remove a feed: what it names changes twins no more."""
    calls.remove(context, f"{PATH}/{identifier}", identifier)
