"""`catchment register mapping`: how messages of devices become measurements."""

from typing import Annotated, Any

import typer

from catchment.cli.console import AsJson
from catchment.cli.names import Id, pairs
from catchment.cli.register import calls
from catchment.cli.register.calls import OfSite, OnlySite
from catchment.registry.model import Format, TimeUnit

app = typer.Typer(help="How messages of devices become measurements.", no_args_is_help=True)

PATH = "/api/v1/mappings"
COLUMNS = ("site", "id", "streams", "format", "subject", "version")

Pairs = Annotated[
    list[str] | None, typer.Option("--field", metavar="FIELD=PATH", help="A field from a member; repeat it.")
]
Constants = Annotated[
    list[str] | None, typer.Option("--const", metavar="FIELD=TEXT", help="A field that is always the same.")
]


@app.command()
def add(
    context: typer.Context,
    identifier: Id,
    streams: Annotated[str, typer.Option(help="Which streams: * for any characters, ? for one.")],
    subject: Annotated[str, typer.Option(help="The Avro subject of the measurements.")],
    message_format: Annotated[Format, typer.Option("--format", help="How devices write.")] = Format.JSON,
    sensor_field: Annotated[
        str | None, typer.Option(metavar="PATH", help="The member with the sensor's id.")
    ] = None,
    sensor: Annotated[str | None, typer.Option(help="One sensor for all; by default the stream is.")] = None,
    timestamp_field: Annotated[
        str | None, typer.Option(metavar="PATH", help="The member with the time; by default that of arrival.")
    ] = None,
    timestamp_unit: Annotated[TimeUnit, typer.Option(help="How the time is written.")] = TimeUnit.MS,
    field: Pairs = None,
    const: Constants = None,
    as_json: AsJson = False,
) -> None:
    """Declare a mapping, or change it; more is possible in a file: `catchment register apply`."""
    constants = {name: {"const": text} for name, text in pairs("--const", const).items()}
    body: dict[str, Any] = {
        "streams": streams,
        "subject": subject,
        "format": message_format,
        "fields": {**pairs("--field", field), **constants},
    }
    if sensor_field or sensor:
        body["sensor"] = {"field": sensor_field} if sensor_field else {"fixed": sensor}
    if timestamp_field:
        body["timestamp"] = {"field": timestamp_field, "unit": timestamp_unit}
    calls.put(context, f"{PATH}/{identifier}", body, as_json)


@app.command()
def show(context: typer.Context, identifier: Id, site: OfSite = None, as_json: AsJson = False) -> None:
    """Show a mapping."""
    calls.show(context, f"{PATH}/{identifier}", site, as_json)


@app.command("list")
def list_(context: typer.Context, site: OnlySite = None, as_json: AsJson = False) -> None:
    """List the mappings."""
    calls.list_all(context, PATH, COLUMNS, as_json, site=site)


@app.command()
def remove(context: typer.Context, identifier: Id) -> None:
    """Remove a mapping: messages of its streams become no measurements any more."""
    calls.remove(context, f"{PATH}/{identifier}", identifier)
