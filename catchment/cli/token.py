"""`catchment token`: who may use the API and the console."""

import datetime
from typing import Annotated, Any

import typer

from catchment.cli.console import AsJson, configuration, print_json, print_table
from catchment.cli.names import Name
from catchment.security.tokens import Scope, Token, Tokens

app = typer.Typer(help="Give people and programs access to the API and the console.", no_args_is_help=True)

Scopes = Annotated[list[Scope], typer.Option("--scope", help="What it allows; repeat it for several.")]
Days = Annotated[int | None, typer.Option("--days", min=1, help="It expires after so many days.")]


@app.command()
def create(
    context: typer.Context, name: Name, scope: Scopes, days: Days = None, as_json: AsJson = False
) -> None:
    """Make a token, or a new secret for an existing one, and print it this once."""
    from catchment.node.preflight import check_data_dir

    config = configuration(context)
    check_data_dir(config)
    lifetime = datetime.timedelta(days=days) if days else None
    token = Tokens(config.paths.tokens).create(name, frozenset(scope), lifetime)
    if as_json:
        print_json({"name": name, "token": token})
    else:
        typer.echo(token)
        typer.echo("This is the only time that it is shown.", err=True)


@app.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List the tokens, without their secrets."""
    rows = [_row(token) for token in Tokens(configuration(context).paths.tokens).all().values()]
    if as_json:
        print_json(rows)
    else:
        texts = [
            {**row, "scopes": " ".join(row["scopes"]), "expires_at": row["expires_at"] or "never"}
            for row in rows
        ]
        print_table(["name", "scopes", "created_at", "expires_at"], texts)


@app.command()
def revoke(context: typer.Context, name: Name) -> None:
    """End a token at once."""
    Tokens(configuration(context).paths.tokens).revoke(name)
    typer.echo(f"{name} is revoked")


def _row(token: Token) -> dict[str, Any]:
    return {
        "name": token.name,
        "scopes": sorted(token.scopes),
        "created_at": _time(token.created_at),
        "expires_at": _time(token.expires_at) if token.expires_at else None,
    }


def _time(moment: datetime.datetime) -> str:
    return moment.isoformat(timespec="seconds")
