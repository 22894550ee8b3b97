"""Typing of arithmetic. Integers stay integers except under `/`; a decimal argument makes the result decimal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from quincunx.errors import QueryError
from quincunx.table import interval
from quincunx.table.expression import NUMBERS, Expression, Literal
from quincunx.table.interval import Bounds
from quincunx.table.typing.facts import Facts, any_nullable, bounds, constant, require, require_numbers, whole_constant

DIGITS = 15


def add(arguments: Sequence[Expression]) -> Facts:
    x, y = arguments
    return _number(arguments, interval.add(bounds(x), bounds(y)), interval.common_step((x.step, y.step)))


def subtract(arguments: Sequence[Expression]) -> Facts:
    x, y = arguments
    ends = interval.add(bounds(x), interval.negate(bounds(y)))
    return _number(arguments, ends, interval.common_step((x.step, y.step)))


def multiply(arguments: Sequence[Expression]) -> Facts:
    x, y = arguments
    step = None if x.step is None or y.step is None else x.step * y.step
    return _number(arguments, interval.multiply(bounds(x), bounds(y)), step)


def divide(arguments: Sequence[Expression]) -> Facts:
    """x / y: decimal always, NULL at the latest in an aggregate where y = 0."""
    x, y = arguments
    require_numbers(arguments)
    step = None
    if isinstance(y, Literal) and y.low and x.step is not None:
        step = x.step / abs(y.low)
    return _checked("decimal", arguments, interval.divide(bounds(x), bounds(y)), step)


def whole_divide(arguments: Sequence[Expression]) -> Facts:
    """x // y for integers, cut toward zero; NULL where y = 0."""
    x, y = arguments
    if any(argument.type == "decimal" for argument in arguments):
        raise QueryError("// divides integers", got="a decimal number", hint="Write FLOOR(x / y).")
    require(arguments, ("integer",), "an integer")
    found = _checked("integer", arguments, interval.whole_quotient(bounds(x), bounds(y)), Fraction(1))
    return found if interval.excludes_zero(bounds(y)) else _nullable(found)


def remainder(arguments: Sequence[Expression]) -> Facts:
    """x % y, with the sign of x; NULL where y = 0."""
    x, y = arguments
    require_numbers(arguments)
    whole = all(argument.type == "integer" for argument in arguments)
    ends = interval.remainder(bounds(x), bounds(y), Fraction(1 if whole else 0))
    # A decimal number with bounds is finite, and the remainder by zero or of an infinite number is not.
    if not whole and not (x.bounded and y.bounded and interval.excludes_zero(bounds(y))):
        ends = (None, None)
    # A remainder of floating-point numbers keeps no lattice: it magnifies the error of the divisor by the quotient.
    found = _number(arguments, ends, interval.common_step((x.step, y.step)) if whole else None)
    return found if interval.excludes_zero(bounds(y)) else _nullable(found)


def negate(arguments: Sequence[Expression]) -> Facts:
    return _number(arguments, interval.negate(bounds(arguments[0])), arguments[0].step)


def absolute(arguments: Sequence[Expression]) -> Facts:
    return _number(arguments, interval.magnitude(bounds(arguments[0])), arguments[0].step)


def whole(arguments: Sequence[Expression]) -> Facts:
    """FLOOR and CEIL: whole numbers, of the argument's own type."""
    return _rounded(arguments, Fraction(1))


def rounded(arguments: Sequence[Expression]) -> Facts:
    """ROUND(x, digits), digits a constant."""
    digits = whole_constant(arguments[1], 0, DIGITS)
    return _rounded(arguments[:1], Fraction(1, 10**digits))


def clamp(arguments: Sequence[Expression]) -> Facts:
    """CLAMP(x, low, high): an integer keeps to the whole numbers between its bounds."""
    x, *ends = arguments
    require_numbers(arguments[:1])
    low, high = (constant(end, NUMBERS, "a number") for end in ends)
    if low.low is None or high.high is None or low.low > high.high:
        raise QueryError("the bounds of CLAMP are reversed", hint="Write CLAMP(x, low, high) with low ≤ high.")
    limits: Bounds = (low.low, high.high)
    step = interval.common_step((x.step, low.step, high.step))
    if x.type == "integer":
        limits = (Fraction(math.ceil(low.low)), Fraction(math.floor(high.high)))
        step = interval.common_step((x.step, Fraction(1)))
        if math.ceil(low.low) > math.floor(high.high):
            raise QueryError("no whole number lies between the bounds of CLAMP")
    # What is already proved about x stays true after clamping, moved into the limits.
    inner = tuple(_moved(end, limits) for end in bounds(x))
    ends_after = (limits[0] if inner[0] is None else inner[0], limits[1] if inner[1] is None else inner[1])
    return _checked(x.type, arguments[:1], ends_after, step, safe=x.type == "integer" or x.bounded)


def _moved(end: Fraction | None, limits: Bounds) -> Fraction | None:
    low, high = limits
    if end is None or low is None or high is None:
        return None
    return min(max(end, low), high)


def _rounded(arguments: Sequence[Expression], step: Fraction) -> Facts:
    x = arguments[0]
    if x.type == "integer":
        return Facts(type="integer", nullable=x.nullable, low=x.low, high=x.high, step=x.step)
    return _number(arguments, interval.outward(bounds(x), step), step)


def _number(arguments: Sequence[Expression], ends: Bounds, step: Fraction | None) -> Facts:
    require_numbers(arguments)
    kind = "integer" if all(argument.type == "integer" for argument in arguments) else "decimal"
    return _checked(kind, arguments, ends, step)


def _checked(
    kind: str, arguments: Sequence[Expression], ends: Bounds, step: Fraction | None, *, safe: bool = True
) -> Facts:
    # What is not proved to fit may overflow: an integer is then NULL, a decimal number is not finite.
    nullable = any_nullable(arguments) or not interval.fits(ends) or not safe
    return Facts(type=kind, nullable=nullable, low=ends[0], high=ends[1], step=step)


def _nullable(facts: Facts) -> Facts:
    return Facts(type=facts.type, nullable=True, low=facts.low, high=facts.high, step=facts.step)
