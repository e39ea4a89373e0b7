"""`catchment register schema`: Avro schemas, through the schema registry."""

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import orjson
import typer

from catchment.cli.console import AsJson, output, print_json, print_table
from catchment.cli.register import calls
from catchment.client import Session
from catchment.errors import ConfigurationError

app = typer.Typer(help="Avro schemas of measurements.", no_args_is_help=True)

PATH = "/schema-registry"

Subject = Annotated[str, typer.Argument(metavar="SUBJECT", help="The subject, for example TemperatureData.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="An Avro schema in JSON (.avsc).")]


@app.command()
def add(context: typer.Context, subject: Subject, file: File, as_json: AsJson = False) -> None:
    """Register a schema as the next version of a subject."""
    with calls.api(context) as session:
        found = register(session, subject, file)
    if as_json:
        print_json(found)
    else:
        typer.echo(f"{subject} is registered, version {found['version']}, id {found['id']}")


@app.command()
def check(context: typer.Context, subject: Subject, file: File, as_json: AsJson = False) -> None:
    """Check whether a schema could be the next version of a subject."""
    with calls.api(context) as session:
        judged = session.post(
            f"{PATH}/compatibility/subjects/{quote(subject, safe='')}/versions?verbose=true",
            {"schema": read(file)},
        )
    if as_json:
        print_json(judged)
    else:
        typer.echo("\n".join(judged["messages"]) or f"It can follow what {subject} has")
    raise typer.Exit(0 if judged["is_compatible"] else 1)


@app.command()
def show(context: typer.Context, subject: Subject, as_json: AsJson = False) -> None:
    """Show the latest version of a subject."""
    with calls.api(context) as session:
        found = session.get(f"{_address(subject)}/versions/latest")
    if as_json:
        print_json(found)
        return
    typer.echo(f"{found['subject']}, version {found['version']}, id {found['id']}")
    text = orjson.dumps(orjson.loads(found["schema"]), option=orjson.OPT_INDENT_2).decode()
    output.print(text, markup=False, highlight=False, soft_wrap=True)


@app.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List all versions of all subjects; those of other sites as :.SITE:SUBJECT."""
    with calls.api(context) as session:
        found: list[dict[str, Any]] = session.get(f"{PATH}/schemas")
    if as_json:
        print_json(found)
    else:
        print_table(("subject", "version", "id"), [{**each, "id": str(each["id"])} for each in found])


@app.command()
def remove(
    context: typer.Context,
    subject: Subject,
    permanent: Annotated[
        bool, typer.Option("--permanent", help="For good: data that were written with it cannot be read.")
    ] = False,
) -> None:
    """Remove a subject that nothing refers to; data that were written with it can still be read."""
    with calls.api(context) as session:
        session.delete(_address(subject))
        if permanent:
            session.delete(f"{_address(subject)}?permanent=true")
    typer.echo(f"{subject} is removed")


def register(session: Session, subject: str, file: Path) -> dict[str, Any]:
    """Registers the schema in a file and gives its version."""
    offered = {"schema": read(file)}
    session.post(f"{_address(subject)}/versions", offered)
    found: dict[str, Any] = session.post(_address(subject), offered)
    return found


def read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"{file} cannot be read ({error.strerror})", "Name a file with a schema."
        ) from None


def _address(subject: str) -> str:
    return f"{PATH}/subjects/{quote(subject, safe='')}"
