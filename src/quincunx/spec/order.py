"""Exact comparison of the numbers that intensities are made of: rationals, logarithms of rationals, balls."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, inf
from typing import Final

from flint import fmpz

from quincunx.numbers import Ball, Exact, Log, ball, float_above, precision

_BITS: Final = 128
_DECIMALS: Final = 12


def at_most(value: Exact | Ball, bound: Exact, times: Fraction = Fraction(1)) -> bool | None:
    """Whether value ≤ times · bound, for times > 0. Always decided for exact numbers; None where a ball straddles.

    A logarithm of a rational other than 1 is transcendental (Lindemann), so it never equals a rational; balls of
    rising precision decide. Two logarithms are equal only if their arguments are, which is checked first.
    """
    if isinstance(value, Fraction) and isinstance(bound, Fraction):
        return value <= times * bound
    if isinstance(value, Ball):
        with precision(4 * _BITS):
            limit = ball(bound) * ball(times)
            return True if value <= limit else False if value > limit else None
    if isinstance(value, Log) and isinstance(bound, Log) and times == 1:
        return value.of <= bound.of
    if _equal(value, bound, times):
        return True
    bits = _BITS
    while True:
        with precision(bits):
            left, right = ball(value), ball(bound) * ball(times)
            if left < right:
                return True
            if left > right:
                return False
        bits *= 2


def _equal(value: Exact, bound: Exact, times: Fraction) -> bool:
    """value = times · bound, where at least one of the two is a logarithm."""
    if _is_zero(value) or _is_zero(bound):
        return _is_zero(value) and _is_zero(bound)
    if not isinstance(value, Log) or not isinstance(bound, Log):
        return False
    # ln r = (p/q)·ln s with p/q in lowest terms, so r^q = s^p, so r = t^p and s = t^q for one rational t.
    base = _root(value.of, times.numerator)
    return base is not None and base == _root(bound.of, times.denominator)


def _is_zero(value: Exact) -> bool:
    return value.of == 1 if isinstance(value, Log) else value == 0


def _root(value: Fraction, degree: int) -> Fraction | None:
    if degree > max(value.numerator.bit_length(), value.denominator.bit_length()):
        return None
    root = Fraction(int(fmpz(value.numerator).root(degree)), int(fmpz(value.denominator).root(degree)))
    return root if root**degree == value else None


def largest(values: list[Exact]) -> Exact:
    """The largest of some exact numbers."""
    best = values[0]
    for value in values[1:]:
        best = best if at_most(value, best) else value
    return best


def multiple(value: Exact, times: Fraction) -> Exact | Ball:
    """times · value: exact where it is a rational or the logarithm of a rational, otherwise a ball."""
    if isinstance(value, Fraction):
        return value * times
    if times.denominator == 1 and times.numerator <= 1000:
        return Log(value.of**times.numerator)
    with precision(4 * _BITS):
        return ball(value) * ball(times)


def rounded_up(value: Exact | Ball) -> Exact | None:
    """An exact number not below `value`: itself, or the upper end of a ball, rounded up to 12 decimals. None: ∞."""
    if not isinstance(value, Ball):
        return value
    top = float_above(value)
    return None if top == inf else Fraction(ceil(Fraction(top) * 10**_DECIMALS), 10**_DECIMALS)
