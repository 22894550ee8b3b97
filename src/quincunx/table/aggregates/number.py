"""The arguments of aggregates that need numbers."""

from __future__ import annotations

from sqlglot import exp

from quincunx.table.aggregates.call import Call
from quincunx.table.expression import NUMBERS, Expression
from quincunx.table.operators import apply, cast
from quincunx.table.typing.facts import WORDS


def number(call: Call, called: str, given: exp.Expr | None = None) -> Expression:
    """The call's first argument, or the one given, as a number; of a condition, 1 where it is true, 0 where false."""
    node = call.node
    at = node.this if given is None else given
    if isinstance(at, exp.Distinct):
        hint = f"Leave DISTINCT out of {called}."
        raise call.refusal(node, "which values are different depends on other people", hint=hint)
    argument = call.row(at)
    if argument.type == "boolean":
        # How many are true, and which share of those that are true or false.
        argument = cast(argument, "integer")
    if argument.type not in NUMBERS:
        shown = "CAST(x AS BIGINT)" if argument.type == "text" else "YEAR(x)"
        hint = f"Write {called}(CLAMP({shown}, low, high))."
        raise call.mistake(at, f"{called} needs a number", got=WORDS[argument.type], hint=hint)
    return argument


def beside(call: Call, called: str, other: exp.Expr) -> Expression | None:
    """The condition of FILTER, and that another argument is not NULL."""
    argument = number(call, called, other)
    if not argument.nullable:
        return call.where
    there = apply("not", apply("is_null", argument))
    return there if call.where is None else apply("and", there, call.where)
