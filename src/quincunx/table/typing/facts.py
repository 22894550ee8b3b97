"""What is proved about the result of an operator, and what rules ask of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from quincunx.errors import QueryError
from quincunx.table.expression import NUMBERS, Expression, Literal
from quincunx.table.interval import Bounds

# The type of a NULL that was written in the question, until its context gives it one.
NULL: Final = "null"

DATES: Final = ("date", "timestamp")

# How a type is named in a sentence.
WORDS: Final = {
    "integer": "an integer",
    "decimal": "a decimal number",
    "text": "a text",
    "date": "a date",
    "timestamp": "a timestamp",
    "boolean": "a boolean",
    NULL: "NULL",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts of an expression, as `Expression` defines them."""

    type: str
    nullable: bool
    low: Fraction | None = None
    high: Fraction | None = None
    step: Fraction | None = None

    def named(self) -> dict[str, Any]:
        """As keyword arguments of an expression."""
        return {
            "type": self.type,
            "nullable": self.nullable,
            "low": self.low,
            "high": self.high,
            "step": self.step,
        }


def bounds(expression: Expression) -> Bounds:
    """The proved ends of an expression."""
    return (expression.low, expression.high)


def any_nullable(arguments: Sequence[Expression]) -> bool:
    """Whether one argument can be NULL."""
    return any(argument.nullable for argument in arguments)


def require(arguments: Sequence[Expression], types: Sequence[str], wanted: str) -> None:
    """Raise unless every argument has one of the types."""
    for argument in arguments:
        if argument.type not in types:
            hint = "Write CAST(… AS …) if a conversion is meant." if argument.type != NULL else ""
            if argument.type in DATES:
                hint = "Take a part of it, such as YEAR(x) or DATE_TRUNC('month', x)."
            raise QueryError(f"{wanted} is needed here", got=WORDS[argument.type], hint=hint)


def require_numbers(arguments: Sequence[Expression]) -> None:
    """Raise unless every argument is a number."""
    require(arguments, NUMBERS, "a number")


def constant(argument: Expression, types: Sequence[str], wanted: str) -> Literal:
    """The argument as a constant of one of the types; a constant is needed so that the result is bounded."""
    if not isinstance(argument, Literal) or argument.type not in types:
        got = WORDS[argument.type] if isinstance(argument, Literal) else "an expression"
        raise QueryError(f"{wanted} is needed here, written as a constant", got=got)
    return argument


def whole_constant(argument: Expression, low: int, high: int) -> int:
    """The argument as a whole constant between `low` and `high`."""
    found = constant(argument, ("integer",), f"a whole number from {low:,} to {high:,}").value
    if not isinstance(found, int) or not low <= found <= high:
        raise QueryError(f"a whole number from {low:,} to {high:,} is needed here", got=str(found))
    return found
