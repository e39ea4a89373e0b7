"""Expressions of queries: their types, by rules, before anything runs and without a JVM."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from catchment.queries.functions import FUNCTIONS, REMEDIES, Signature
from catchment.queries.problems import nearest
from catchment.queries.syntax import WrongExpression, name_of, parse, sql_of
from catchment.queries.types import INTERVAL, NULL, SCALARS, article_of, common, fits

Scope = Mapping[str, str]


@dataclass(frozen=True)
class Typed:
    """An expression that is right, and the type of its value."""

    sql: str
    type: str

    @property
    def as_type(self) -> str:
        """The expression as exactly that type: Spark's own may be a decimal, or a smaller number."""
        return self.sql if self.sql.isidentifier() else self.cast

    @property
    def cast(self) -> str:
        return f"CAST(({self.sql}) AS {self.type})"


def check(text: str, scope: Scope) -> Typed:
    """The type of an expression over columns; qualified names (`stream.column`) stand whole in the scope."""
    found = type_of(parse(text), scope)
    if found in (NULL, INTERVAL):
        raise WrongExpression(f"{text} has no type of its own", "Cast it, as in cast(null as string)")
    return Typed(text, found)


def check_condition(text: str, scope: Scope) -> Typed:
    """An expression that is true or false."""
    typed = check(text, scope)
    if typed.type != "boolean":
        raise WrongExpression(
            f"{text} is {article_of(typed.type)}, not a condition", "Compare it with something"
        )
    return typed


def known_column(name: str, scope: Scope) -> str:
    """The type of a column; refuses one that is not there, with the nearest that is."""
    if name in scope:
        return scope[name]
    raise WrongExpression(f"there is no column {name}", nearest(name, scope))


def type_of(node: exp.Expression, scope: Scope) -> str:
    for kinds, rule in _RULES:
        if isinstance(node, kinds):
            return rule(node, scope)
    raise WrongExpression(
        f"{sql_of(node)} is not allowed in an expression",
        "Use columns, operators, case, cast and the functions of docs/reference/queries.md",
    )


def _column(node: exp.Expression, scope: Scope) -> str:
    return known_column(name_of(node), scope)


def _literal(node: exp.Expression, _: Scope) -> str:
    assert isinstance(node, exp.Literal)
    if node.is_string:
        return "string"
    if not node.is_int:
        return "double"
    return "int" if abs(int(node.this)) < 2**31 else "bigint"


def _cast(node: exp.Expression, scope: Scope) -> str:
    type_of(node.this, scope)
    target = sql_of(node.args["to"]).lower()
    if target not in SCALARS:
        raise WrongExpression(f"cast cannot give {target}", f"Use one of {', '.join(SCALARS)}")
    return str(target)


def _logic(node: exp.Expression, scope: Scope) -> str:
    for side in (node.this, node.args.get("expression")):
        if side is not None and type_of(side, scope) not in ("boolean", NULL):
            raise WrongExpression(
                f"{sql_of(side)} is {article_of(type_of(side, scope))}, not a condition",
                "Compare it with something",
            )
    return "boolean"


def _comparison(node: exp.Expression, scope: Scope) -> str:
    _same([node.this, *_others(node)], scope, node)
    return "boolean"


def _others(node: exp.Expression) -> list[exp.Expression]:
    if isinstance(node, exp.Between):
        return [node.args["low"], node.args["high"]]
    if isinstance(node, exp.In):
        return list(node.expressions)
    return [node.expression]


def _same(nodes: Iterable[exp.Expression], scope: Scope, whole: exp.Expression) -> str:
    """The type that all have in common. A text that is written out may stand for a time."""
    nodes = list(nodes)
    found = NULL
    for node in nodes:
        other = type_of(node, scope)
        together = common(found, other)
        if together is None and {found, other} == {"timestamp", "string"} and _has_text(nodes):
            together = "timestamp"
        if together is None:
            raise WrongExpression(
                f"{sql_of(whole)} puts {article_of(found)} beside {article_of(other)}",
                f"Write both of one type, or cast({sql_of(node)} as {found})",
            )
        found = together
    return found


def _has_text(nodes: Iterable[exp.Expression]) -> bool:
    return any(isinstance(node, exp.Literal) and node.is_string for node in nodes)


def _text_match(node: exp.Expression, scope: Scope) -> str:
    for side in (node.this, node.expression):
        _need(type_of(side, scope), "string", node)
    return "boolean"


def _is(node: exp.Expression, scope: Scope) -> str:
    type_of(node.this, scope)
    return "boolean"


def _arithmetic(node: exp.Expression, scope: Scope) -> str:
    left, right = type_of(node.this, scope), type_of(node.expression, scope)
    if isinstance(node, exp.Add | exp.Sub) and left == "timestamp" and right == INTERVAL:
        return "timestamp"
    for side in (left, right):
        _need(side, "number", node)
    if isinstance(node, exp.Div):
        return "double"
    return "bigint" if isinstance(node, exp.IntDiv) else common(left, right) or "double"


def _negative(node: exp.Expression, scope: Scope) -> str:
    found = type_of(node.this, scope)
    _need(found, "number", node)
    return found


def _concatenation(node: exp.Expression, scope: Scope) -> str:
    for side in (node.this, node.expression):
        _need(type_of(side, scope), "scalar", node)
    return "string"


def _case(node: exp.Expression, scope: Scope) -> str:
    branches = node.args["ifs"]
    if node.this is None:
        for branch in branches:
            _logic(exp.Not(this=branch.this), scope)
    else:
        _same([node.this, *(branch.this for branch in branches)], scope, node)
    otherwise = node.args.get("default")
    return _same(
        [*(each.args["true"] for each in branches), *([otherwise] if otherwise else [])], scope, node
    )


def _if(node: exp.Expression, scope: Scope) -> str:
    return _case(exp.Case(ifs=[node], default=node.args.get("false")), scope)


def _interval(*_: object) -> str:
    return INTERVAL


def _element(node: exp.Expression, scope: Scope) -> str:
    found = type_of(node.this, scope)
    _need(found, "array<T>", node)
    for index in node.expressions:
        _need(type_of(index, scope), "int", node)
    return found[6:-1]


def _call(node: exp.Expression, scope: Scope) -> str:
    name = node.name.lower()
    signature = FUNCTIONS.get(name)
    if signature is None:
        raise WrongExpression(f"the function {name} is not allowed", _instead(name))
    arguments = node.expressions
    if not signature.takes(len(arguments)):
        raise WrongExpression(f"{name} has {len(arguments)} arguments", f"It is {signature.text}")
    return _result_of_call(node, signature, [type_of(each, scope) for each in arguments])


def _instead(name: str) -> str:
    if name in REMEDIES:
        return REMEDIES[name]
    return nearest(name, FUNCTIONS, "docs/reference/queries.md lists those that are")


def _result_of_call(node: exp.Expression, signature: Signature, types: list[str]) -> str:
    shared = NULL
    for index, found in enumerate(types):
        parameter = signature.parameter(index)
        if not fits(found, parameter):
            raise WrongExpression(
                f"{sql_of(node)} has {article_of(found)} as argument {index + 1}",
                f"It is {signature.text}",
            )
        if parameter in ("T", "N", "array<T>"):
            together = common(shared, found[6:-1] if parameter == "array<T>" and found != NULL else found)
            if together is None:
                raise WrongExpression(
                    f"{sql_of(node)} puts {article_of(shared)} beside {article_of(found)}",
                    "Cast one of them to the type of the other",
                )
            shared = together
    return {"T": shared, "N": shared, "array<T>": f"array<{shared}>"}.get(signature.result, signature.result)


def _need(found: str, wanted: str, node: exp.Expression) -> None:
    if not fits(found, wanted):
        expected = "an array" if wanted == "array<T>" else article_of(wanted)
        raise WrongExpression(
            f"{sql_of(node)} needs {expected} and has {article_of(found)}",
            f"Use another column, or cast it to {'double' if wanted == 'number' else wanted}",
        )


_RULES = (
    (exp.Column, _column),
    (exp.Literal, _literal),
    (exp.Boolean, lambda *_: "boolean"),
    (exp.Null, lambda *_: NULL),
    (exp.Paren, lambda node, scope: type_of(node.this, scope)),
    (exp.Cast, _cast),
    ((exp.And, exp.Or, exp.Not), _logic),
    ((exp.Like, exp.ILike, exp.RegexpLike), _text_match),
    ((exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.Between, exp.In), _comparison),
    (exp.Is, _is),
    ((exp.Add, exp.Sub, exp.Mul, exp.Mod, exp.Div, exp.IntDiv), _arithmetic),
    (exp.Neg, _negative),
    (exp.DPipe, _concatenation),
    (exp.Case, _case),
    (exp.If, _if),
    (exp.Interval, _interval),
    (exp.Bracket, _element),
    (exp.Anonymous, _call),
)
