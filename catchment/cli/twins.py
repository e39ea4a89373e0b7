"""`catchment twins`: the current state of every object, searched, changed and watched."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated, Any

import orjson
import typer

from catchment.cli.console import AsJson, configuration, errors, print_json, print_table, working
from catchment.cli.names import Id
from catchment.client import local_session
from catchment.client.twins import WAIT_S, TwinCalls

app = typer.Typer(help="See, search, change and watch the state of objects.", no_args_is_help=True)

COLUMNS = ("site", "id", "type", "version", "values")
OUTCOME_COLUMNS = ("site", "id", "result", "version", "reason")
_SET = re.compile(r"(?P<name>[^=+-]+?)(?P<how>\+=|-=|=)(?P<value>.*)", re.DOTALL)

OfSite = Annotated[str | None, typer.Option("--site", metavar="SITE", help="The site; by default this one.")]
OnlySite = Annotated[str | None, typer.Option("--site", metavar="SITE", help="Only those of this site.")]
OfType = Annotated[str | None, typer.Option("--type", metavar="TYPE", help="Only those of this type.")]
Sort = Annotated[
    str | None, typer.Option(help="By which value or member; with `-` before it, the highest first.")
]
Limit = Annotated[int, typer.Option(min=1, max=1000, help="Most objects to list.")]
Wait = Annotated[
    int, typer.Option(min=0, max=30, help="Seconds to wait for the decision; 0 for the transaction alone.")
]
IfVersion = Annotated[int | None, typer.Option(min=1, help="Only if it has this version.")]
Values = Annotated[
    list[str] | None,
    typer.Argument(metavar="VALUE…", help="`temperature=80` sets, `count+=1` adds, `door=` removes."),
]


@contextmanager
def _twins(context: typer.Context, shown: bool = True) -> Iterator[TwinCalls]:
    with (
        local_session(configuration(context)) as session,
        working("Asking the node") if shown else nullcontext(),
    ):
        yield TwinCalls(session)


@app.command("list")
def list_(
    context: typer.Context,
    site: OnlySite = None,
    type_: OfType = None,
    sort: Sort = None,
    limit: Limit = 100,
    as_json: AsJson = False,
) -> None:
    """List objects, sorted by site and id."""
    _show_page(context, {"site": site, "type": type_, "sort": sort}, limit, as_json)


@app.command()
def search(
    context: typer.Context,
    where: Annotated[str, typer.Argument(metavar="EXPRESSION", help="Such as `temperature > 80`.")],
    sort: Sort = None,
    limit: Limit = 100,
    as_json: AsJson = False,
) -> None:
    """List the objects that an expression is true of."""
    from catchment.twins.search.parser import parse

    parse(where)
    _show_page(context, {"where": where, "sort": sort}, limit, as_json)


@app.command()
def get(context: typer.Context, identifier: Id, site: OfSite = None, as_json: AsJson = False) -> None:
    """Show one object."""
    with _twins(context) as twins:
        found = twins.get(identifier, site)
    if as_json:
        print_json(found)
        return
    values = found.pop("values")
    facts = [{"fact": name, "value": value} for name, value in {**found, **values}.items()]
    print_table(("fact", "value"), facts)


@app.command()
def create(
    context: typer.Context,
    identifier: Id,
    type_: Annotated[str, typer.Option("--type", metavar="TYPE", help="What it is.")],
    values: Values = None,
    wait: Wait = WAIT_S,
    as_json: AsJson = False,
) -> None:
    """Make an object that is not there yet."""
    changes, increments = parse_values(values or [])
    if increments or None in changes.values():
        raise typer.BadParameter("An object is made with values that are set: NAME=VALUE.")
    with _twins(context) as twins:
        answer = twins.create(identifier, type_, changes, wait_s=wait)
    _report(answer, identifier, as_json)


@app.command()
def change(
    context: typer.Context,
    identifier: Id,
    values: Values = None,
    if_version: IfVersion = None,
    wait: Wait = WAIT_S,
    as_json: AsJson = False,
) -> None:
    """Change values of an object."""
    changes, increments = parse_values(values or [])
    with _twins(context) as twins:
        answer = twins.change(identifier, changes, add=increments, if_version=if_version, wait_s=wait)
    _report(answer, identifier, as_json)


@app.command()
def delete(
    context: typer.Context,
    identifier: Id,
    mark: Annotated[bool, typer.Option("--mark", help="Only mark it as deleted.")] = False,
    if_version: IfVersion = None,
    wait: Wait = WAIT_S,
    as_json: AsJson = False,
) -> None:
    """Delete an object for good, or mark it as deleted."""
    with _twins(context) as twins:
        answer = twins.delete(identifier, mark=mark, if_version=if_version, wait_s=wait)
    _report(answer, identifier, as_json)


@app.command()
def transaction(
    context: typer.Context,
    transaction: Annotated[str, typer.Argument(metavar="TRANSACTION", help="As a change printed it.")],
    as_json: AsJson = False,
) -> None:
    """Show what became of a change."""
    with _twins(context) as twins:
        known = twins.transaction(transaction)
    if as_json:
        print_json(known)
        return
    typer.echo(known["state"])
    print_table(OUTCOME_COLUMNS, known["objects"])


@app.command()
def watch(
    context: typer.Context,
    where: Annotated[
        str | None, typer.Argument(metavar="EXPRESSION", help="Which objects; by default all.")
    ] = None,
    identifier: Annotated[str | None, typer.Option("--id", metavar="ID", help="Only this object.")] = None,
    site: OfSite = None,
    as_json: AsJson = False,
) -> None:
    """Print objects that are there, and what changes, until it is interrupted."""
    with _twins(context, shown=False) as twins:
        for event, told in twins.watch(where, identifier, site):
            if as_json:
                typer.echo(orjson.dumps({"event": event, **told}))
            elif event != "ready":
                values = _listed(told["values"]) if event == "twin" else "gone"
                typer.echo(f"{told['site']}/{told['id']}  {values}")


def parse_values(texts: list[str]) -> tuple[dict[str, Any], dict[str, float]]:
    """What is set (None for what is removed), and what is added."""
    changes: dict[str, Any] = {}
    increments: dict[str, float] = {}
    for text in texts:
        match = _SET.fullmatch(text)
        if match is None:
            raise typer.BadParameter(f"{text!r} is none of NAME=VALUE, NAME+=NUMBER and NAME-=NUMBER.")
        value = _scalar(match["value"])
        if match["how"] == "=":
            changes[match["name"]] = value
        elif isinstance(value, bool) or not isinstance(value, int | float):
            raise typer.BadParameter(f"{text!r} adds what is no number.")
        else:
            increments[match["name"]] = value if match["how"] == "+=" else -value
    return changes, increments


def _scalar(text: str) -> Any:
    """A number, true, false, a JSON text in quotes, or the text as it is; nothing removes the value."""
    if not text:
        return None
    try:
        value = orjson.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float | str) else text


def _show_page(context: typer.Context, wanted: dict[str, Any], limit: int, as_json: bool) -> None:
    with _twins(context) as twins:
        page = twins.page(limit, **wanted)
    if as_json:
        print_json(page["items"])
    else:
        print_table(COLUMNS, [{**each, "values": _listed(each["values"])} for each in page["items"]])
    if page["next"]:
        errors.print(f"There are more than {limit:,}: narrow the search, or raise --limit.")
    if page["missing_partitions"]:
        named = ", ".join(map(str, page["missing_partitions"]))
        errors.print(f"Incomplete: no instance answers for the partitions {named}.")
        raise typer.Exit(1)


def _report(answer: dict[str, Any], identifier: str, as_json: bool) -> None:
    if as_json:
        print_json(answer)
    elif answer["state"] == "under-way":
        typer.echo(f"{identifier}: under way as transaction {answer['transaction']}")
    else:
        typer.echo(f"{identifier}: {answer['state']}")


def _listed(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={orjson.dumps(value).decode()}" for name, value in values.items())
