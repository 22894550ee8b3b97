"""How an amount is written, everywhere: 0.05 as a decimal, 1/3 as a fraction, ln(3) as a logarithm, others as "about".

A decimal where one ends, because people compare amounts, and decimals can be compared; a fraction where none does.
Bounds are rounded to the side on which they stay bounds, and what a hint gives to type never rounds past what works.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Final

from quincunx.numbers.ball import ball, exact_fraction, precision
from quincunx.numbers.exact import Exact, Log

# Longer than this nobody reads an amount: it is told as "about".
_LONGEST: Final = 20
# Decimals of more digits than this are written as the fraction, which is shorter.
_MOST: Final = 30
_DIGITS: Final = 6
# From here on a decimal without exponent would be a row of zeros.
_SMALL: Final = Fraction(1, 10_000)
_LARGE: Final = 10**9
_BITS: Final = 128


def exact_text(value: Exact) -> str:
    """All of it, so that it can be typed again: "0.05", "1e-10", "1/3", "ln(1.5)"."""
    if isinstance(value, Log):
        return f"ln({exact_text(value.of)})"
    places = _places(value)
    if places is None or (units := abs(value.numerator) * 10**places // value.denominator) >= 10**_MOST:
        return str(value)
    number = Decimal((int(value < 0), tuple(int(digit) for digit in str(units)), -places))
    return _scientific(number) if value and abs(value) < _SMALL else f"{number:f}"


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


def above(value: float | Fraction, digits: int = _DIGITS) -> str:
    """`value` (a float as Python prints it) rounded up to `digits` significant digits: an upper bound stays one."""
    return _rounded(value, digits, math.ceil)


def below(value: float | Fraction, digits: int = _DIGITS) -> str:
    """The same, rounded down: a lower bound stays one."""
    return _rounded(value, digits, math.floor)


def near(value: Exact | float, digits: int = _DIGITS) -> str:
    """`value` to `digits` significant digits, rounded to the nearest; it bounds nothing."""
    if isinstance(value, Log):
        with precision(_BITS):
            value = exact_fraction(ball(value).mid())
    return _rounded(value, digits, round)


def _short(value: Exact) -> str | None:
    inside = value.of if isinstance(value, Log) else value
    # The bits are counted first: Python refuses to print integers of many thousand digits.
    if inside.numerator.bit_length() + inside.denominator.bit_length() > _BITS:
        return None
    text = exact_text(value)
    return text if len(text) <= _LONGEST else None


def _places(value: Fraction) -> int | None:
    """How many digits after the point the value has; None where they do not end."""
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def _rounded(value: float | Fraction, digits: int, whole: Callable[[Fraction], int]) -> str:
    if isinstance(value, float):
        if not math.isfinite(value):
            return "undefined" if math.isnan(value) else "∞" if value > 0 else "−∞"
        value = Fraction(repr(value))
    if value == 0:
        return "0"
    # 2^b is 10^0.30103b: the leading place within one, then exactly.
    bits = abs(value.numerator).bit_length() - value.denominator.bit_length()
    place = bits * 30_103 // 100_000 + 2
    while abs(value) < Fraction(10) ** place:
        place -= 1
    unit = place - digits + 1
    units = whole(value / Fraction(10) ** unit)
    number = Decimal((int(units < 0), tuple(int(digit) for digit in str(abs(units))), unit))
    return f"{number.normalize():f}" if _SMALL <= abs(value) < _LARGE else _scientific(number)


def _scientific(number: Decimal) -> str:
    """One digit before the point, and an exponent without zeros: 2.5e-5."""
    # Decimal's own normalize() rounds to the context's 28 digits; these numbers keep all of theirs.
    sign, digits, exponent = number.as_tuple()
    text = "".join(str(digit) for digit in digits).lstrip("0")
    leading = int(exponent) + len(text) - 1
    text = text.rstrip("0")
    return f"{'-' if sign else ''}{text[0]}{'.' + text[1:] if text[1:] else ''}e{leading}"
