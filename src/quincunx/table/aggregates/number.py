"""The argument of aggregates that need a number."""

from __future__ import annotations

from sqlglot import exp

from quincunx.table.aggregates.call import Call
from quincunx.table.expression import NUMBERS, Expression
from quincunx.table.operators import cast
from quincunx.table.typing.facts import WORDS


def number(call: Call, called: str) -> Expression:
    """The call's argument as a number; of a condition, 1 where it is true and 0 where it is false."""
    node = call.node
    if isinstance(node.this, exp.Distinct):
        hint = f"Leave DISTINCT out of {called}."
        raise call.refusal(node, "which values are different depends on other people", hint=hint)
    argument = call.row(node.this)
    if argument.type == "boolean":
        # How many are true, and which share of those that are true or false.
        argument = cast(argument, "integer")
    if argument.type not in NUMBERS:
        shown = "CAST(x AS BIGINT)" if argument.type == "text" else "YEAR(x)"
        hint = f"Write {called}(CLAMP({shown}, low, high))."
        raise call.mistake(node.this, f"{called} needs a number", got=WORDS[argument.type], hint=hint)
    return argument
