"""What the registrar's commands share: options, and how answers of the API are shown."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from catchment.cli.console import configuration, output, print_json, print_table
from catchment.client import Session, local_session

Title = Annotated[str | None, typer.Option("--name", help="What people call it; by default its id.")]
Description = Annotated[str, typer.Option(help="A sentence about it.")]
OfSite = Annotated[str | None, typer.Option("--site", metavar="SITE", help="The site; by default this one.")]
OnlySite = Annotated[str | None, typer.Option("--site", metavar="SITE", help="Only those of this site.")]


def api(context: typer.Context) -> Session:
    """A session with the node's API."""
    return local_session(configuration(context))


def put(context: typer.Context, path: str, body: dict[str, Any], as_json: bool) -> None:
    """Declares something and says which version it is."""
    with api(context) as session:
        say_written(session.put(path, body), as_json)


def say_written(written: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(written)
    else:
        typer.echo(f"{written['id']} is registered, version {written['version']}")


def show(context: typer.Context, path: str, site: str | None, as_json: bool) -> None:
    """Prints one thing, a line a field."""
    with api(context) as session:
        found = session.get(path, site=site)
    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        output.print(f"{name:<15} {value}", markup=False, highlight=False, soft_wrap=True)


def list_all(
    context: typer.Context, path: str, columns: Sequence[str], as_json: bool, **parameters: Any
) -> None:
    """Prints a whole list as a table."""
    with api(context) as session:
        rows = list(session.pages(path, limit=1000, **parameters))
    if as_json:
        print_json(rows)
    else:
        print_table(columns, [{column: _cell(row.get(column)) for column in columns} for row in rows])


def remove(context: typer.Context, path: str, name: str) -> None:
    """Deletes one thing."""
    with api(context) as session:
        session.delete(path)
    typer.echo(f"{name} is removed")


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else value
