"""`catchment user`: people who sign in with a name and a password."""

import sys
from typing import Annotated

import typer

from catchment.cli.console import AsJson, configuration, print_json, print_table
from catchment.cli.names import Name
from catchment.config import Config
from catchment.security.users import UserRole, Users

app = typer.Typer(help="Give people access to the console, by name, password and role.", no_args_is_help=True)

Role = Annotated[UserRole, typer.Option(help="What they may do; each role may all that the one before may.")]
AskPassword = Annotated[
    bool,
    typer.Option(
        "--ask",
        help="Ask for the password, or read it from a pipe, instead of making a one-time one.",
    ),
]


@app.command()
def add(
    context: typer.Context,
    name: Name,
    role: Role = UserRole.VIEWER,
    ask: AskPassword = False,
    as_json: AsJson = False,
) -> None:
    """Make a user, and print a one-time password that has to be replaced at the first sign-in."""
    from catchment.node.preflight import check_data_dir

    config = configuration(context)
    check_data_dir(config)
    _told(name, _users(config).add(name, role, _password() if ask else None), as_json)


@app.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List the users, without their passwords."""
    users = _users(configuration(context)).all().values()
    rows = [user.model_dump(mode="json", exclude={"password_argon2"}) for user in users]
    if as_json:
        print_json(rows)
    else:
        columns = ["name", "role", "created_at", "password_changed_at", "must_change_password"]
        texts = [{**row, **{key: row[key][:19] for key in columns[2:4]}} for row in rows]
        print_table(columns, texts)


@app.command("role")
def role_(
    context: typer.Context,
    name: Name,
    role: Annotated[UserRole, typer.Argument(help="The role from now on.")],
) -> None:
    """Give a user another role, and end their sessions."""
    _users(configuration(context)).set_role(name, role)
    typer.echo(f"{name} is {role} from now on, and is signed out everywhere")


@app.command()
def password(context: typer.Context, name: Name, ask: AskPassword = False, as_json: AsJson = False) -> None:
    """Give a user another password, and end their sessions."""
    users = _users(configuration(context))
    _told(name, users.set_password(name, _password() if ask else None), as_json)


@app.command()
def remove(context: typer.Context, name: Name) -> None:
    """Remove a user, and end their sessions."""
    _users(configuration(context)).remove(name)
    typer.echo(f"{name} is removed, and signed out everywhere")


def _users(config: Config) -> Users:
    return Users(config.paths.users)


def _password() -> str:
    """Never an argument: arguments show in the list of processes."""
    if sys.stdin.isatty():
        answer: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True)
        return answer
    return sys.stdin.readline().rstrip("\n")


def _told(name: str, one_time: str | None, as_json: bool) -> None:
    if as_json:
        print_json({"name": name, "one_time_password": one_time})
    elif one_time:
        typer.echo(one_time)
        typer.echo(f"{name} signs in with this one-time password, shown this once.", err=True)
    else:
        typer.echo(f"{name} signs in with that password from now on")
