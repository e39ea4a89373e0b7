"""From text to an expression, or to an error that points at the place.

expression = both {"or" both}
both       = one {"and" one}
one        = "not" one | "(" expression ")" | condition
condition  = field (operator scalar | "in" "(" scalar {"," scalar} ")" | "like" text | "exists")
field      = name | "values" "." (name | text)
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from catchment.errors import InvalidExpression
from catchment.twins.search.expression import (
    KEYWORDS,
    MEMBERS,
    And,
    Compare,
    Exists,
    Expression,
    Field,
    In,
    Like,
    Not,
    Operator,
    Or,
    Scalar,
)

LONGEST = 4000
DEEPEST = 50
_LARGEST_INTEGER = 2**63
_SPACE = re.compile(r"\s*")
_VALUES = "values"


class Token(StrEnum):
    """What a text is made of."""

    NUMBER = "number"
    TEXT = "text"
    NAME = "name"
    SYMBOL = "symbol"
    END = "end"


_TOKENS = {
    Token.NUMBER: re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_.])"),
    Token.TEXT: re.compile(r"\"(?:[^\"\\]|\\[\"'\\])*\"|'(?:[^'\\]|\\[\"'\\])*'"),
    Token.NAME: re.compile(r"[A-Za-z_][A-Za-z0-9_]*"),
    Token.SYMBOL: re.compile(r"!=|<=|>=|[=<>(),.]"),
}
_OPERATORS = {operator.value: operator for operator in Operator}
_SCALAR = "a number, a text in quotes, true or false"
_CONDITION = "one of = != < <= > >= in like exists"


@dataclass(frozen=True)
class Piece:
    """A token, and where it begins and ends."""

    token: Token
    text: str
    start: int

    @property
    def word(self) -> str:
        """The word of the language that it is, if it is one."""
        word = self.text.lower()
        return word if self.token is Token.NAME and word in KEYWORDS else ""

    def shown(self) -> str:
        return "the end" if self.token is Token.END else f"`{self.text}`"


@lru_cache(maxsize=256)
def parse(text: str) -> Expression:
    """The expression that a text says."""
    if len(text) > LONGEST:
        raise InvalidExpression.at(text[:LONGEST], LONGEST, f"at most {LONGEST:,} characters", "more")
    return _Parser(text).whole()


@lru_cache(maxsize=256)
def reread(text: str) -> Expression:
    """The expression that another instance has read before, and written with what it added."""
    return _Parser(text, 2 * DEEPEST + 5).whole()


def parse_field(text: str) -> Field:
    """The field that a text names, for sorting."""
    return _Parser(text).only_field()


class _Parser:
    """Reads one text from left to right."""

    def __init__(self, text: str, deepest: int = DEEPEST) -> None:
        self._text = text
        self._deepest = deepest
        self._depth = 0
        self._piece = self._read(0)

    def whole(self) -> Expression:
        found = self._expression()
        self._require_end("`and`, `or` or the end")
        return found

    def only_field(self) -> Field:
        found = self._field()
        self._require_end("the end")
        return found

    def _require_end(self, expected: str) -> None:
        if self._piece.token is not Token.END:
            raise self._wrong(expected)

    def _expression(self) -> Expression:
        parts = self._several("or", self._both)
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _both(self) -> Expression:
        parts = self._several("and", self._one)
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _several(self, word: str, part: Callable[[], Expression]) -> list[Expression]:
        parts = [part()]
        while self._piece.word == word:
            self._next()
            parts.append(part())
        return parts

    def _one(self) -> Expression:
        self._depth += 1
        if self._depth > self._deepest:
            raise self._wrong(f"at most {self._deepest} parts within each other")
        try:
            if self._piece.word == "not":
                self._next()
                return Not(self._one())
            if self._piece.text == "(" and self._piece.token is Token.SYMBOL:
                self._next()
                found = self._expression()
                self._symbol(")", "`and`, `or` or `)`")
                return found
            return self._condition()
        finally:
            self._depth -= 1

    def _condition(self) -> Expression:
        field = self._field()
        piece = self._piece
        if piece.word == "exists":
            self._next()
            return Exists(field)
        if piece.word == "in":
            self._next()
            return In(field, self._list())
        if piece.word == "like":
            self._next()
            return Like(field, self._pattern())
        if piece.token is not Token.SYMBOL or piece.text not in _OPERATORS:
            raise self._wrong(_CONDITION)
        self._next()
        return self._comparison(field, _OPERATORS[piece.text])

    def _comparison(self, field: Field, operator: Operator) -> Compare:
        piece = self._piece
        value = self._scalar()
        if isinstance(value, bool) and operator not in (Operator.EQUAL, Operator.DIFFERENT):
            raise InvalidExpression.at(self._text, piece.start, "a number or a text in quotes", piece.shown())
        return Compare(field, operator, value)

    def _field(self) -> Field:
        piece = self._piece
        if piece.token is not Token.NAME or piece.word:
            raise self._wrong("the name of a value, `not` or `(`")
        self._next()
        if piece.text == _VALUES and self._piece.text == ".":
            self._next()
            return self._value_name()
        return Field(piece.text, is_member=piece.text in MEMBERS)

    def _value_name(self) -> Field:
        piece = self._piece
        if piece.token not in (Token.NAME, Token.TEXT):
            raise self._wrong("the name of a value")
        self._next()
        return Field(_unquoted(piece.text) if piece.token is Token.TEXT else piece.text)

    def _list(self) -> tuple[Scalar, ...]:
        self._symbol("(", "`(`")
        values = [self._scalar()]
        while self._piece.text == "," and self._piece.token is Token.SYMBOL:
            self._next()
            values.append(self._scalar())
        self._symbol(")", "`,` or `)`")
        return tuple(values)

    def _pattern(self) -> str:
        if self._piece.token is not Token.TEXT:
            raise self._wrong('a text in quotes, such as "oven-*"')
        return _unquoted(self._next().text)

    def _scalar(self) -> Scalar:
        piece = self._piece
        if piece.token is Token.TEXT:
            value: Scalar = _unquoted(piece.text)
        elif piece.token is Token.NUMBER:
            value = self._number(piece)
        elif piece.word in ("true", "false"):
            value = piece.word == "true"
        else:
            raise self._wrong(_SCALAR)
        self._next()
        return value

    def _number(self, piece: Piece) -> int | float:
        if piece.text.lstrip("-").isdigit() and len(piece.text) < 25:
            whole = int(piece.text)
            if -_LARGEST_INTEGER <= whole < _LARGEST_INTEGER:
                return whole
        value = float(piece.text)
        if math.isinf(value):
            raise self._wrong("a number below 1.8e308")
        return value

    def _symbol(self, symbol: str, expected: str) -> None:
        if self._piece.token is not Token.SYMBOL or self._piece.text != symbol:
            raise self._wrong(expected)
        self._next()

    def _next(self) -> Piece:
        """Goes on by one token; gives the one that was passed."""
        passed = self._piece
        self._piece = self._read(passed.start + len(passed.text))
        return passed

    def _read(self, place: int) -> Piece:
        space = _SPACE.match(self._text, place)
        start = space.end() if space else place
        if start >= len(self._text):
            return Piece(Token.END, "", start)
        for token, form in _TOKENS.items():
            if match := form.match(self._text, start):
                return Piece(token, match[0], start)
        raise InvalidExpression.at(self._text, start, *_unreadable(self._text[start]))

    def _wrong(self, expected: str) -> InvalidExpression:
        return InvalidExpression.at(self._text, self._piece.start, expected, self._piece.shown())


def _unreadable(character: str) -> tuple[str, str]:
    if character in "\"'":
        return f"a text that ends with {character}", "the end"
    if character.isdigit() or character == "-":
        return "a number such as -2 or 3.5", f"`{character}`"
    return "a name, a scalar or one of ( ) = != < <= > >=", f"`{character}`"


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1])
