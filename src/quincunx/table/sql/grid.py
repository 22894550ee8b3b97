"""Numbers that lie on a grid as an engine computes them: whole numbers, and FLOOR, CEIL and ROUND of bounded ones.

Bounds are proved in real arithmetic, and an engine adds and divides in binary floating point, so that FLOOR may fall on
the wrong side of a bound. Only what the engine itself computes at the ends is taken as an end. See derived.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final, TypeAlias

from quincunx.table.expression import NUMBERS, Call, Column, Expression, Literal, Value

# The values of an expression at the lower and the upper bound of its only column.
At: TypeAlias = Callable[[Expression], "Sequence[Value] | None"]
# (first, last, step): whole multiples of the step from first to last.
Ends: TypeAlias = tuple[int, int, Fraction]

_ROUNDED: Final = ("floor", "ceil", "round")
# Operators whose results lie on a grid where their arguments do: sums and products of multiples, and choices.
_KEPT: Final = (
    "add",
    "subtract",
    "multiply",
    "negate",
    "abs",
    "clamp",
    "least",
    "greatest",
    "case",
    "coalesce",
    "nullif",
)
# Operators of one changing argument and constants that never turn round, in floating point either: correct rounding
# keeps order.
_MONOTONE: Final = (*_ROUNDED, "negate", "cast", "clamp", "add", "subtract", "multiply", "divide")


def whole_steps(node: Expression) -> bool:
    """Whether a decimal number has few values: it is made by FLOOR, CEIL or ROUND, of whole numbers and constants."""
    if isinstance(node, Literal) or node.type != "decimal":
        return True
    if not isinstance(node, Call):
        return False
    if node.operator in _ROUNDED:
        return True
    if node.operator == "cast":
        return node.arguments[0].type == "integer"
    return node.operator in _KEPT and all(whole_steps(part) for part in node.arguments)


def ends(node: Call, at: At) -> Ends | None:
    """The steps among which all numbers of the node are, but for NULL; None where they are not known."""
    if node.type == "integer" and exact(node):
        if node.low is None or node.high is None:
            return None
        return math.ceil(node.low), math.floor(node.high), Fraction(1)
    step = _step(node)
    if step is None:
        return None
    if node.operator == "clamp" and not monotone(node):
        # The engine moves everything between the limits, whatever it was.
        low, high = (part.low for part in node.arguments[1:])
        return (math.floor(low / step), math.floor(high / step), step) if low is not None and high is not None else None
    found = at(node) if monotone(node) else None
    if found is None or any(value is None or isinstance(value, str) for value in found):
        return None
    lowest, highest = sorted(Fraction(value) / step for value in found)  # type: ignore[arg-type]
    if lowest.denominator != 1 or highest.denominator != 1:
        return None
    if node.operator == "cast" and node.low is not None and node.high is not None:
        # Engines round halves of decimals and of doubles in different directions.
        lowest, highest = min(lowest, node.low), max(highest, node.high)
    return int(lowest), int(highest), step


def exact(node: Expression) -> bool:
    """Whether a whole number is computed from whole numbers alone, so that its proved bounds hold in every engine."""
    if not isinstance(node, Call) or node.operator in ("date_part", "length", "clamp"):
        # An integer is clamped to its proved bounds by the engine itself.
        return True
    if node.operator == "cast":
        return node.arguments[0].type == "boolean"
    return all(part.type != "decimal" and exact(part) for part in node.arguments if part.type in NUMBERS)


def monotone(node: Expression, *, inside: bool = False) -> bool:
    """Whether the node is one bounded column, once, under operators that keep or turn the order of numbers.

    A cast to whole numbers may only come last (inside: it would not), because engines differ in how they round.
    """
    if isinstance(node, Column):
        return node.bounded and node.type in NUMBERS
    if not isinstance(node, Call) or node.operator not in _MONOTONE or not node.bounded:
        return False
    changing = [part for part in node.arguments if not isinstance(part, Literal)]
    if len(changing) != 1 or any(part.type not in NUMBERS for part in node.arguments):
        return False
    # A constant divided by a column falls on both sides of zero.
    if inside and node.operator == "cast" and node.type == "integer":
        return False
    return monotone(changing[0], inside=True) and (node.operator != "divide" or changing[0] is node.arguments[0])


def _step(node: Call) -> Fraction | None:
    """The grid of a number that is rounded last; ROUND to digits gives the double nearest to a decimal."""
    if node.operator == "clamp":
        inner = node.arguments[0]
        found = _step(inner) if isinstance(inner, Call) else None
        limits = [part.low for part in node.arguments[1:]]
        on_grid = found is not None and all(end is not None and (end / found).denominator == 1 for end in limits)
        return found if on_grid else None
    if node.operator == "cast" and node.type == "integer":
        return Fraction(1)
    if node.operator not in _ROUNDED:
        return None
    digits = node.arguments[1] if node.operator == "round" else None
    places = digits.value if isinstance(digits, Literal) and isinstance(digits.value, int) else 0
    return Fraction(1, 10**places)
