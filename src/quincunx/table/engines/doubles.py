"""Arithmetic of doubles that raises for no value, in words that PostgreSQL and Spark share: see dialect.md."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from quincunx.table.engines.typed_sql import binary, call, cast, choose, double, text


def finite(x: exp.Expression) -> exp.Expression:
    """Whether a double is neither infinite nor NaN, which is the greatest; NULL of NULL."""
    above = exp.GT(this=x, expression=cast(text("-Infinity"), "DOUBLE"))
    below = exp.LT(this=x.copy(), expression=cast(text("Infinity"), "DOUBLE"))
    return exp.Paren(this=exp.And(this=above, expression=below))


def quotient(x: exp.Expression, y: exp.Expression) -> exp.Expression:
    """x / y of doubles where y is never 0."""
    return exp.Paren(this=exp.Div(this=x, expression=y, typed=True, safe=False))


def divided(
    x: exp.Expression, y: exp.Expression, total: Callable[[exp.Expression, exp.Expression], exp.Expression]
) -> exp.Expression:
    """x / y of doubles: infinite with the sign of x where y is 0, NULL of 0 / 0.

    total: the engine's quotient that raises for no divisor. A branch that is not taken may be worked out all the same.
    """
    if isinstance(y, exp.Cast) and isinstance(y.this, exp.Literal) and float(y.this.name):
        return quotient(x, y)
    zero = exp.EQ(this=y, expression=double(Fraction(0)))
    sign = call("SIGN", call("NULLIF", x, double(Fraction(0))))
    signed = binary(exp.Mul, sign, cast(text("Infinity"), "DOUBLE"))
    return choose([(zero, signed)], total(x.copy(), y.copy()))


def rounded(x: exp.Expression, places: int, cut: Callable[[exp.Expression], exp.Expression]) -> exp.Expression:
    """A double to so many decimal places, halves away from zero. cut: the engine's way toward zero, as a double."""
    scale = double(Fraction(10**places))
    moved = binary(exp.Mul, x, scale) if places else x
    whole = cut(moved)
    far = exp.GTE(this=call("ABS", binary(exp.Sub, moved.copy(), whole.copy())), expression=double(Fraction(1, 2)))
    nearest = choose([(far, binary(exp.Add, whole.copy(), call("SIGN", x.copy())))], whole)
    return quotient(nearest, scale.copy()) if places else nearest
