"""Scalar expressions: from the parser's nodes to typed operators, one entry for each kind of node.

`hook` is asked first at every node: below an aggregate it knows columns, above it keys and published values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from sqlglot import exp

from quincunx.errors import QueryError, RefusalError
from quincunx.table.expression import Call, Expression, Literal
from quincunx.table.operators import apply, cast, literal
from quincunx.table.sql import constants
from quincunx.table.sql.functions import ARGUMENTS, NAMED, PARTS, part_name
from quincunx.table.sql.place import Text
from quincunx.table.sql.reasons import why
from quincunx.table.typing.facts import WORDS

Hook: TypeAlias = Callable[[exp.Expr], Expression | None]
Inner: TypeAlias = Callable[[exp.Expr], Expression]
Handler: TypeAlias = Callable[[exp.Expr, Inner], Expression]

COMPARISONS: Final[Mapping[type[exp.Expr], str]] = {
    exp.EQ: "equal",
    exp.NEQ: "not_equal",
    exp.LT: "less",
    exp.LTE: "less_equal",
    exp.GT: "greater",
    exp.GTE: "greater_equal",
    exp.NullSafeNEQ: "distinct",
    exp.NullSafeEQ: "not_distinct",
}
ARITHMETIC: Final[Mapping[type[exp.Expr], str]] = {
    exp.Add: "add",
    exp.Sub: "subtract",
    exp.Mul: "multiply",
    exp.Div: "divide",
    exp.IntDiv: "whole_divide",
    exp.Mod: "remainder",
}
CHAINS: Final[Mapping[type[exp.Expr], str]] = {exp.And: "and", exp.Or: "or", exp.DPipe: "join"}
# Parsers disagree on which of these binds first, so that one inside another needs brackets.
_PREDICATES: Final = (*COMPARISONS, exp.Is, exp.Between, exp.In, exp.Like, exp.ILike, exp.Not, exp.And, exp.Or)
TYPES: Final[Mapping[exp.DType, str]] = {
    exp.DType.INT: "integer",
    exp.DType.BIGINT: "integer",
    exp.DType.INT128: "integer",
    exp.DType.DOUBLE: "decimal",
    exp.DType.TEXT: "text",
    exp.DType.DATE: "date",
    exp.DType.TIMESTAMP: "timestamp",
    exp.DType.TIMESTAMPNTZ: "timestamp",
    exp.DType.BOOLEAN: "boolean",
}


def translate(node: exp.Expr, hook: Hook, text: Text) -> Expression:
    """The typed expression of a node; errors show the innermost node that is wrong."""
    try:
        found = hook(node)
        if found is not None:
            return found
        handler = HANDLERS.get(type(node))
        if handler is None:
            raise RefusalError(why(node)[0], hint=why(node)[1])
        return handler(node, lambda child: translate(child, hook, text))
    except (QueryError, RefusalError) as error:
        if not error.sql:
            error.at(text.sql, *text.span(node))
        raise


def condition(node: exp.Expr, hook: Hook, text: Text) -> Expression:
    """An expression that must be true, false or NULL."""
    found = translate(node, hook, text)
    if found.type != "boolean":
        raise text.mistake(node, "a condition is needed here", got=WORDS[found.type], hint="Compare it with something.")
    return found


def _operands(node: exp.Expr, *names: str) -> list[exp.Expr]:
    found = [node.args[name] for name in names]
    for each in found:
        if isinstance(each, _PREDICATES):
            raise QueryError("what belongs together is not clear here", hint="Put brackets around the inner condition.")
    return found


def _comparison(node: exp.Expr, inner: Inner) -> Expression:
    return apply(COMPARISONS[type(node)], *map(inner, _operands(node, "this", "expression")))


def _arithmetic(node: exp.Expr, inner: Inner) -> Expression:
    return apply(ARITHMETIC[type(node)], *map(inner, _operands(node, "this", "expression")))


def _negate(node: exp.Expr, inner: Inner) -> Expression:
    if isinstance(node.this, exp.Literal) and not node.this.args.get("is_string"):
        return literal(-constants.number(node.this.name))
    return apply("negate", inner(node.this))


def _chain(node: exp.Expr, inner: Inner) -> Expression:
    kind, terms, at = type(node), [], node
    while isinstance(at, kind):
        terms.append(at.args["expression"])
        at = at.this
    terms.append(at)
    return apply(CHAINS[kind], *map(inner, reversed(terms)))


def _is(node: exp.Expr, inner: Inner) -> Expression:
    (tested,), what = _operands(node, "this"), node.args["expression"]
    if isinstance(what, exp.Null):
        return apply("is_null", inner(tested))
    if isinstance(what, exp.Boolean):
        return apply("not_distinct", inner(tested), literal(bool(what.this)))
    raise RefusalError("IS asks for NULL, TRUE or FALSE", hint="Write x = y, or x IS NULL.")


def _like(node: exp.Expr, inner: Inner) -> Expression:
    name = "like" if isinstance(node, exp.Like) else "ilike"
    found = apply(name, *map(inner, _operands(node, "this", "expression")))
    return apply("not", found) if node.args.get("negate") else found


def _case(node: exp.Expr, inner: Inner) -> Expression:
    arguments: list[Expression] = []
    subject = None if node.this is None else inner(node.this)
    for branch in node.args["ifs"]:
        test = inner(branch.this)
        arguments += [test if subject is None else apply("equal", subject, test), inner(branch.args["true"])]
    otherwise = node.args.get("default")
    return apply("case", *arguments, literal(None) if otherwise is None else inner(otherwise))


def _if(node: exp.Expr, inner: Inner) -> Expression:
    otherwise = node.args.get("false")
    last = literal(None) if otherwise is None else inner(otherwise)
    return apply("case", inner(node.this), inner(node.args["true"]), last)


def _cast(node: exp.Expr, inner: Inner) -> Expression:
    to = TYPES.get(node.args["to"].this)
    if to is None:
        hint = "Write BIGINT, DOUBLE, VARCHAR, DATE, TIMESTAMP or BOOLEAN; ROUND(x, digits) for decimals."
        raise RefusalError("this type is not understood", hint=hint)
    written = node.this
    if to in ("date", "timestamp") and isinstance(written, exp.Literal) and written.args.get("is_string"):
        return constants.dated(written.name, to)
    return cast(inner(written), to)


def _part(node: exp.Expr, inner: Inner) -> Expression:
    return apply("date_part", literal(PARTS[type(node)]), inner(node.this))


def _extract(node: exp.Expr, inner: Inner) -> Expression:
    return apply("date_part", literal(part_name(node.this.name)), inner(node.args["expression"]))


def _trunc(node: exp.Expr, inner: Inner) -> Expression:
    return apply("date_trunc", literal(node.args["unit"].name.lower()), inner(node.this))


def _round(node: exp.Expr, inner: Inner) -> Expression:
    digits = node.args.get("decimals")
    return apply("round", inner(node.this), literal(0) if digits is None else inner(digits))


def _trim(node: exp.Expr, inner: Inner) -> Expression:
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position")), "trim")
    return apply(name, inner(node.this))


def _function(node: exp.Expr, inner: Inner) -> Expression:
    """A function whose arguments are those of its operator, in the order in which ARGUMENTS names them."""
    name, parts = ARGUMENTS[type(node)]
    arguments: list[Expression] = []
    for part in parts:
        value = node.args.get(part)
        arguments += [inner(each) for each in (value if isinstance(value, list) else [value]) if each is not None]
    return apply(name, *arguments)


def _named(node: exp.Expr, inner: Inner) -> Expression:
    """A function that the parser knows by name only."""
    found = NAMED.get(node.name.lower())
    if found is None:
        what, hint = why(node)
        raise RefusalError(what, hint=hint)
    arguments = [inner(each) for each in node.expressions]
    if found == "date_part" and arguments and isinstance(arguments[0], Literal):
        arguments[0] = literal(part_name(str(arguments[0].value)))
    if found.startswith("part:"):
        return apply("date_part", literal(found.removeprefix("part:")), *arguments)
    return apply(found, *arguments)


def _between(node: exp.Expr, inner: Inner) -> Expression:
    return apply("between", *map(inner, _operands(node, "this", "low", "high")))


def _in(node: exp.Expr, inner: Inner) -> Expression:
    (tested,) = _operands(node, "this")
    return apply("in", inner(tested), *map(inner, node.expressions))


def _not(node: exp.Expr, inner: Inner) -> Expression:
    found = inner(node.this)
    # NOT NOT x is x where x is already a condition.
    if isinstance(found, Call) and found.operator == "not":
        return found.arguments[0]
    return apply("not", found)


HANDLERS: Final[Mapping[type[exp.Expr], Handler]] = {
    **dict.fromkeys(COMPARISONS, _comparison),
    **dict.fromkeys(ARITHMETIC, _arithmetic),
    **dict.fromkeys(PARTS, _part),
    **dict.fromkeys(ARGUMENTS, _function),
    **dict.fromkeys(CHAINS, _chain),
    **dict.fromkeys((exp.Cast, exp.TryCast), _cast),
    **dict.fromkeys((exp.TimestampTrunc, exp.DateTrunc), _trunc),
    **dict.fromkeys((exp.Like, exp.ILike), _like),
    exp.Paren: lambda node, inner: inner(node.this),
    exp.Literal: lambda node, inner: constants.constant(node),  # type: ignore[arg-type]  # noqa: ARG005
    exp.Null: lambda node, inner: literal(None),  # noqa: ARG005
    exp.Boolean: lambda node, inner: literal(bool(node.this)),  # noqa: ARG005
    exp.Neg: _negate,
    exp.Not: _not,
    exp.Is: _is,
    exp.Between: _between,
    exp.In: _in,
    exp.Case: _case,
    exp.If: _if,
    exp.Extract: _extract,
    exp.Round: _round,
    exp.Trim: _trim,
    exp.Anonymous: _named,
}
