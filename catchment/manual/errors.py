"""The table of the page of errors, made of the tree of errors itself."""

from collections.abc import Iterator

from catchment.errors import CatchmentError

_COLUMNS = "| code | exit | status | tried again | meaning |\n|---|---|---|---|---|\n"


def tree(root: type[CatchmentError] = CatchmentError) -> Iterator[type[CatchmentError]]:
    """Every error, the root first."""
    yield root
    for child in root.__subclasses__():
        yield from tree(child)


def errors() -> str:
    """Every error by its code, which leads to what to do about it."""
    return _COLUMNS + "".join(_row(error) for error in tree())


def _row(error: type[CatchmentError]) -> str:
    code = f"[`{error.code}`](../troubleshooting.md#{error.code})"
    again = "yes" if error.transient else ""
    return f"| {code} | {error.exit_code} | {error.http_status} | {again} | {_meaning(error)} |\n"


def _meaning(error: type[CatchmentError]) -> str:
    sentence = (error.__doc__ or "").strip().removesuffix(".")
    kept = sentence.startswith("Kafka")
    return sentence if kept else sentence[0].lower() + sentence[1:]
