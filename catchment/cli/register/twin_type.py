"""`catchment register twin-type`: what objects are like, and who may do what with them."""

from typing import Annotated, Any

import typer

from catchment.cli.console import AsJson
from catchment.cli.names import Id, pairs
from catchment.cli.register import calls
from catchment.cli.register.calls import Description, OfSite, OnlySite, Title

app = typer.Typer(help="What objects are like, and who may do what with them.", no_args_is_help=True)

PATH = "/api/v1/twin-types"
COLUMNS = ("site", "id", "name", "open", "description", "version")

Values = Annotated[
    list[str] | None,
    typer.Option(
        "--value", metavar="NAME=KIND", help="A value: number, integer, text or boolean; repeat it."
    ),
]
Required = Annotated[
    list[str] | None, typer.Option("--required", metavar="NAME", help="A value that must be there.")
]
Readers = Annotated[
    list[str] | None,
    typer.Option("--reader", help="Who may see its objects; repeat it. By default token/* and user/*."),
]
Writers = Annotated[
    list[str] | None,
    typer.Option(
        "--writer", help="Who may make and change them; repeat it. By default token/*, user/* and feed/*."
    ),
]


@app.command()
def add(
    context: typer.Context,
    identifier: Id,
    name: Title = None,
    description: Description = "",
    value: Values = None,
    required: Required = None,
    is_open: Annotated[bool, typer.Option("--open", help="Allow values that are not declared.")] = False,
    reader: Readers = None,
    writer: Writers = None,
    as_json: AsJson = False,
) -> None:
    """Declare a type of twins, or change it; bounds are declared in a file: `catchment register apply`."""
    values: dict[str, dict[str, Any]] = {
        each: {"kind": kind} for each, kind in pairs("--value", value).items()
    }
    for each in required or ():
        if each not in values:
            raise typer.BadParameter(f"--required {each} has no --value {each}=KIND.")
        values[each]["required"] = True
    body: dict[str, Any] = {
        "name": name or identifier,
        "description": description,
        "values": values,
        "open": is_open,
    }
    given = {"readers": reader, "writers": writer}
    body |= {key: globs for key, globs in given.items() if globs}
    calls.put(context, f"{PATH}/{identifier}", body, as_json)


@app.command()
def show(context: typer.Context, identifier: Id, site: OfSite = None, as_json: AsJson = False) -> None:
    """Show a type of twins."""
    calls.show(context, f"{PATH}/{identifier}", site, as_json)


@app.command("list")
def list_(context: typer.Context, site: OnlySite = None, as_json: AsJson = False) -> None:
    """List the types of twins of all sites."""
    calls.list_all(context, PATH, COLUMNS, as_json, site=site)


@app.command()
def remove(context: typer.Context, identifier: Id) -> None:
    """Remove a type of twins that no feed refers to; its objects stay, and can only be deleted."""
    calls.remove(context, f"{PATH}/{identifier}", identifier)
