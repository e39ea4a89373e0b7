"""`catchment centre`: the node that gathers from the sites."""

import os
from typing import Annotated

import typer

from catchment.cli import node
from catchment.config import Role
from catchment.config.loading import variable_of

app = typer.Typer(help="Run the centre, which gathers from the sites.", no_args_is_help=True)

Demonstration = Annotated[
    bool, typer.Option("--demonstration", help="Also send a few lines a second, to have something to see.")
]


@app.callback()
def centre() -> None:
    """Run the centre, which gathers from the sites."""


@app.command()
def up(context: typer.Context) -> None:
    """Run the node as the centre, whatever role the configuration gives it."""
    up_as(Role.CENTRE, context)


def up_as(role: Role, context: typer.Context, demonstration: bool = False) -> None:
    """`catchment up` with a role; the parts read it from the same place."""
    os.environ[variable_of("role")] = role.value
    node.up(context, demonstration)
