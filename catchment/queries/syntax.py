"""Expressions as they are written: Spark SQL, parsed without a JVM, with the place of what cannot be read."""

from typing import Any, ClassVar

from sqlglot import exp, parse_one
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.parsers.spark import SparkParser


class WrongExpression(Exception):
    """What is wrong with an expression, and what to write instead."""

    def __init__(self, happened: str, remedy: str) -> None:
        super().__init__(f"{happened}. {remedy}")
        self.happened = happened
        self.remedy = remedy


class _AsWritten(Spark):
    """Spark's grammar, in which functions keep the names that people wrote."""

    class Parser(SparkParser):
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: parser
            for name, parser in SparkParser.FUNCTION_PARSERS.items()
            if name in ("CAST", "TRY_CAST")
        }
        NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}


def parse(text: str) -> exp.Expression:
    """The expression that a text is; refuses what is none, or several."""
    try:
        tree = parse_one(text, dialect=_AsWritten)
    except (SqlglotError, RecursionError, ValueError) as error:
        raise WrongExpression(f"{text!r} cannot be read: {_place(error)}", "Correct it there") from None
    if not isinstance(tree, exp.Expression) or isinstance(tree, exp.Block):
        raise WrongExpression(f"{text!r} is more than one expression", "Write one, without `;`")
    return tree


def _place(error: Exception) -> str:
    details = error.errors[0] if isinstance(error, ParseError) and error.errors else {}
    if not details:
        return "a quote or bracket is not closed"
    if "missing for" in str(details["description"]):
        return f"something is missing after column {details['col']}"
    near = f" near {details['highlight']!r}" if details.get("highlight") else ""
    return f"{str(details['description']).rstrip('.').lower()}{near} at column {details['col']}"


def sql_of(tree: exp.Expression) -> str:
    """An expression as Spark SQL."""
    return tree.sql(dialect=_AsWritten)


def name_of(node: exp.Expression) -> str:
    """A column's whole name; empty if it is something else."""
    return ".".join(part.name for part in node.parts) if isinstance(node, exp.Column) else ""
