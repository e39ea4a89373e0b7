"""`catchment audit`: who changed what, when and from where."""

import datetime
from typing import Annotated, Any

import typer

from catchment.cli.console import AsJson, configuration, print_json, print_table

COLUMNS = ("at", "who", "what", "target", "address", "outcome")


def add_to(app: typer.Typer) -> None:
    app.command()(audit)


def audit(
    context: typer.Context,
    who: Annotated[
        str | None, typer.Option(help="Only of whom it contains this, such as user/alice.")
    ] = None,
    what: Annotated[str | None, typer.Option(help="Only where operation or target contain this.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Most entries to list.")] = 100,
    as_json: AsJson = False,
) -> None:
    """List changes, newest first, with who made them and from where."""
    from catchment.client import local_session

    with local_session(configuration(context)) as session:
        items: list[dict[str, Any]] = session.get("/api/v1/audit", who=who, what=what, limit=limit)["items"]
    if as_json:
        print_json(items)
        return
    rows = [{**each, "at": _moment(each["at_ms"]), "address": each["address"] or ""} for each in items]
    print_table(COLUMNS, rows)


def _moment(milliseconds: int) -> str:
    return f"{datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.UTC):%Y-%m-%d %H:%M:%S}"
