"""The parts of boxes that are more than an expression: values of aggregates, orders, pairs of a join."""

from collections.abc import Mapping

from sqlglot import exp

from catchment.queries.expressions import Scope, Typed, check, known_column, type_of
from catchment.queries.functions import AGGREGATES
from catchment.queries.graph import AggregateValue, OrderBy
from catchment.queries.syntax import WrongExpression, name_of, parse, sql_of
from catchment.queries.types import NUMBERS, article_of, common


def check_aggregate(name: str, text: str, scope: Scope) -> AggregateValue:
    """One value of an aggregate box: a single function over an expression."""
    tree = parse(text)
    function, argument = _aggregate_call(tree, text)
    if argument is None:
        return AggregateValue(name, function, None, None, "bigint")
    sql = sql_of(argument)
    found = check(sql, scope)
    if function in ("sum", "avg") and found.type not in NUMBERS:
        raise WrongExpression(
            f"{function} needs a number, and {sql} is {article_of(found.type)}",
            f"Use count, or cast({sql} as double)",
        )
    if found.type.startswith("array"):
        happened = f"{function} cannot take {article_of(found.type)}"
        raise WrongExpression(happened, "Use `each` of a map box before it")
    return AggregateValue(name, function, found.as_type, found.type, _result(function, found.type))


def check_order(text: str, scope: Scope) -> tuple[OrderBy, ...]:
    """`contacts desc, host` as columns that are there."""
    orders = []
    for part in text.split(","):
        column, _, direction = part.strip().partition(" ")
        if direction.strip().lower() not in ("", "asc", "desc"):
            raise WrongExpression(f"order_by has {direction.strip()!r} after {column}", "Write asc or desc")
        known_column(column, scope)
        orders.append(OrderBy(column, direction.strip().lower() == "desc"))
    return tuple(orders)


def check_pairs(text: str, left: Scope, right: Scope) -> tuple[tuple[str, str], ...]:
    """`a = b and c = d` as pairs of expressions over either side, of the same types."""
    return tuple(_pair(tree, left, right) for tree in _conjuncts(parse(text)))


def qualified(text: str, names: Mapping[str, str]) -> str:
    """An expression with qualified names replaced by others, such as `counts.host` by `left.host`."""

    def renamed(node: exp.Expression) -> exp.Expression:
        name = names.get(name_of(node)) if isinstance(node, exp.Column) else None
        return exp.column(*reversed(name.split("."))) if name else node

    return sql_of(parse(text).transform(renamed))


def _aggregate_call(tree: exp.Expression, text: str) -> tuple[str, exp.Expression | None]:
    name = tree.name.lower() if isinstance(tree, exp.Anonymous) else ""
    arguments = tree.expressions if isinstance(tree, exp.Anonymous) else []
    if name not in AGGREGATES:
        raise WrongExpression(
            f"{text} is not one of {', '.join(AGGREGATES)} of something",
            "Write a single one, and compute with its result in a map box after it",
        )
    if len(arguments) != 1:
        raise WrongExpression(f"{name} has {len(arguments)} arguments", "Give it one")
    argument = arguments[0]
    if isinstance(argument, exp.Distinct):
        if name != "count" or len(argument.expressions) != 1:
            raise WrongExpression(f"{text} is not known", "Write count_distinct(column)")
        return "count_distinct", argument.expressions[0]
    if isinstance(argument, exp.Star):
        if name != "count":
            raise WrongExpression(f"{name}(*) is not known", f"Write count(*), or {name} of a column")
        return name, None
    return name, argument


def _result(function: str, argument: str) -> str:
    if function in ("count", "count_distinct"):
        return "bigint"
    if function == "avg":
        return "double"
    return "bigint" if function == "sum" and argument == "int" else argument


def _conjuncts(tree: exp.Expression) -> list[exp.Expression]:
    if isinstance(tree, exp.Paren):
        return _conjuncts(tree.this)
    if isinstance(tree, exp.And):
        return [*_conjuncts(tree.this), *_conjuncts(tree.expression)]
    return [tree]


def _pair(tree: exp.Expression, left: Scope, right: Scope) -> tuple[str, str]:
    if isinstance(tree, exp.Column):
        return _typed_pair(tree, tree, left, right)
    if not isinstance(tree, exp.EQ):
        raise WrongExpression(
            f"on has {sql_of(tree)}, which is no equality of both sides",
            "Write left = right, and put other conditions into a filter box after it",
        )
    one, other = tree.this, tree.expression
    return (
        _typed_pair(other, one, left, right)
        if _belongs(one, right, left)
        else _typed_pair(one, other, left, right)
    )


def _belongs(tree: exp.Expression, side: Scope, other_side: Scope) -> bool:
    """Whether all columns are of one side, and some of them not of the other."""
    names = [name_of(column) for column in tree.find_all(exp.Column)]
    return (
        bool(names) and all(name in side for name in names) and any(name not in other_side for name in names)
    )


def _typed_pair(one: exp.Expression, other: exp.Expression, left: Scope, right: Scope) -> tuple[str, str]:
    left_type, right_type = type_of(one, left), type_of(other, right)
    together = common(left_type, right_type)
    if together is None:
        raise WrongExpression(
            f"on compares {article_of(left_type)} with {article_of(right_type)}",
            f"Write cast({sql_of(other)} as {left_type}), or compare other columns",
        )
    return _own(one, left_type, together), _own(other, right_type, together)


def _own(tree: exp.Expression, found: str, wanted: str) -> str:
    """An expression over a side's own columns, without the stream's name before them."""

    def bare(node: exp.Expression) -> exp.Expression:
        return exp.column(node.name) if isinstance(node, exp.Column) else node

    own = Typed(sql_of(tree.transform(bare)), wanted)
    return own.as_type if found == wanted else own.cast
