"""Fractions as decimals: all their digits where they end, a few where they do not, rounded to a stated side."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Final

# Longer than this nobody reads an amount: it is told as "about".
_LONGEST: Final = 20
# Decimals of more digits than this are written as the fraction, which is shorter.
_MOST: Final = 30
DIGITS: Final = 6
# From here on a decimal without exponent would be a row of zeros.
_SMALL: Final = Fraction(1, 10_000)
_LARGE: Final = 10**9
BITS: Final = 128


def whole(value: Fraction) -> str:
    """All of it, so that it can be typed again: "0.05", "1e-10", "1/3"."""
    places = _places(value)
    if places is None or (units := abs(value.numerator) * 10**places // value.denominator) >= 10**_MOST:
        return str(value)
    number = Decimal((int(value < 0), tuple(int(digit) for digit in str(units)), -places))
    return _scientific(number) if value and abs(value) < _SMALL else f"{number:f}"


def short(value: Fraction, frame: str = "{}") -> str | None:
    """All of it in a frame of words, where that is short enough to read; None where it is not."""
    # The bits are counted first: Python refuses to print integers of many thousand digits.
    if value.numerator.bit_length() + value.denominator.bit_length() > BITS:
        return None
    text = frame.format(whole(value))
    return text if len(text) <= _LONGEST else None


def shown(value: Fraction) -> str:
    """The number for people: exact where it is short, otherwise "about 0.333333"."""
    return short(value) or f"about {rounded(value, DIGITS, round)}"


def _places(value: Fraction) -> int | None:
    """How many digits after the point the value has; None where they do not end."""
    rest, twos, fives = value.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def rounded(value: float | Fraction, digits: int, to: Callable[[Fraction], int]) -> str:
    """The value to so many significant digits, made whole there by `to`: floor, ceil or round."""
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
    units = to(value / Fraction(10) ** unit)
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
