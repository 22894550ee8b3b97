"""How an amount is written, everywhere: 0.05 as a decimal, 1/3 as a fraction, ln(3) as a logarithm, others as "about".

A decimal where one ends, because people compare amounts, and decimals can be compared; a fraction where none does.
Bounds are rounded to the side on which they stay bounds, and what a hint gives to type never rounds past what works.
"""

from __future__ import annotations

import math
from fractions import Fraction

from quincunx.numbers.ball import ball, exact_fraction, precision
from quincunx.numbers.decimals import BITS, DIGITS, rounded, short, whole
from quincunx.numbers.exact import Exact, Log


def exact_text(value: Exact) -> str:
    """All of it, so that it can be typed again: "0.05", "1e-10", "1/3", "ln(1.5)"."""
    return f"ln({whole(value.of)})" if isinstance(value, Log) else whole(value)


def amount(value: Exact) -> str:
    """The amount for people: exact where it is short, otherwise "about 0.333333"."""
    return _short(value) or f"about {near(value)}"


def stated(symbol: str, value: Exact, delta: Fraction = Fraction(0)) -> str:
    """The amount with its symbol: "ρ = 0.05", "ρ = 0.05, δ = 1e-10", "ε = ln(3) (about 1.09861)", "ρ ≈ 0.333333"."""
    text = _short(value)
    size = f" (about {near(value)})" if isinstance(value, Log) and text else ""
    more = f", {stated('δ', delta)}" if delta else ""
    return (f"{symbol} ≈ {near(value)}" if text is None else f"{symbol} = {text}{size}") + more


def percent(share: Fraction) -> str:
    """A share of 1 in percent, as exact as an amount: "95 %"."""
    return f"{amount(100 * share)} %"


def at_most(value: Fraction) -> str:
    """The amount, or six digits rounded down: what may be typed where no more than `value` is allowed."""
    return _short(value) or below(value)


def at_least(value: Fraction) -> str:
    """The amount, or six digits rounded up: what may be typed where no less than `value` is allowed."""
    return _short(value) or above(value)


def above(value: float | Fraction, digits: int = DIGITS) -> str:
    """`value` (a float as Python prints it) rounded up to `digits` significant digits: an upper bound stays one."""
    return rounded(value, digits, math.ceil)


def below(value: float | Fraction, digits: int = DIGITS) -> str:
    """The same, rounded down: a lower bound stays one."""
    return rounded(value, digits, math.floor)


def near(value: Exact | float, digits: int = DIGITS) -> str:
    """`value` to `digits` significant digits, rounded to the nearest; it bounds nothing."""
    if isinstance(value, Log):
        with precision(BITS):
            value = exact_fraction(ball(value).mid())
    return rounded(value, digits, round)


def _short(value: Exact) -> str | None:
    return short(value.of, "ln({})") if isinstance(value, Log) else short(value)
