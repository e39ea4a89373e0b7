"""`catchment completion`: commands and options completed by the shell."""

from enum import StrEnum
from typing import Annotated

import typer

PROGRAM = "catchment"


class Shell(StrEnum):
    """What can complete."""

    BASH = "bash"
    ZSH = "zsh"


def add_to(app: typer.Typer) -> None:
    app.command()(completion)


def completion(shell: Annotated[Shell, typer.Argument(help="The shell that shall complete.")]) -> None:
    """Print what makes a shell complete commands and options.

    For bash, add `source <(catchment completion bash)` to ~/.bashrc; for zsh, write it to a file named
    `_catchment` in a directory of $fpath.
    """
    # It is there, and not in its list of names.
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    script = get_completion_script(
        prog_name=PROGRAM, complete_var=f"_{PROGRAM.upper()}_COMPLETE", shell=shell.value
    )
    typer.echo(script)
