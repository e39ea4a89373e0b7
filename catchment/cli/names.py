"""Names on the command line: a wrong one is wrong usage."""

from typing import Annotated

import typer

from catchment.errors import InvalidRecord
from catchment.records import check_name


def _checked(name: str) -> str:
    try:
        check_name("valid", name)
    except InvalidRecord as error:
        raise typer.BadParameter(str(error)) from None
    return name


Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", callback=_checked, help="Letters, digits, dots, hyphens and underscores; at most 64."
    ),
]
Id = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        callback=_checked,
        help="Its identifier: letters, digits, dots, hyphens and underscores; at most 64.",
    ),
]
