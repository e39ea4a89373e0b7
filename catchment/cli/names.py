"""Names on the command line: a wrong one is wrong usage."""

from typing import Annotated

import typer

from catchment.errors import InvalidRecord
from catchment.records import check_name


def checked(name: str) -> str:
    try:
        check_name("valid", name)
    except InvalidRecord as error:
        raise typer.BadParameter(str(error)) from None
    return name


def pairs(option: str, given: list[str] | None) -> dict[str, str]:
    """What was given as NAME=VALUE, for an option that may be repeated."""
    split = [each.partition("=") for each in given or ()]
    if any(not (name and equals and text) for name, equals, text in split):
        raise typer.BadParameter(f"{option} is written {option} NAME=VALUE.")
    return {name: text for name, _, text in split}


Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", callback=checked, help="Letters, digits, dots, hyphens and underscores; at most 64."
    ),
]
Id = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        callback=checked,
        help="Its identifier: letters, digits, dots, hyphens and underscores; at most 64.",
    ),
]
