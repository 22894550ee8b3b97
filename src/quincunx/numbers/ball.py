"""Certified intervals: Arb balls, and the one-sided floats that leave them.

A privacy bound leaves this library as `float_above(ball)`: a float that is certainly not below the true value.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from flint import arb, ctx, fmpq, fmpz

from quincunx.numbers.exact import Exact, Log

Ball = arb

# FLINT's precision is one global number. Balls stay certified at any precision, so the lock guards
# sharpness and the restoring of the old value, not soundness.
_LOCK = threading.RLock()
# Beyond this binary magnitude a bound keeps its sign and its side of every float, which is all that leaves this module.
_MAGNITUDE = 20_000


def _fresh_lock() -> None:
    # A child of a fork does not have the thread that may hold the lock.
    global _LOCK  # noqa: PLW0603
    _LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_fresh_lock)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Evaluate the balls inside with `bits` bits of working precision."""
    with _LOCK:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


def ball(value: Exact | int | float | Ball) -> Ball:
    """The ball around an exact number at the working precision. A float means its exact binary value."""
    if isinstance(value, Fraction):
        return arb(fmpq(fmpz(value.numerator), fmpz(value.denominator)))
    if isinstance(value, Log):
        return ball(value.of).log()
    return arb(value)


def float_above(value: Ball | Fraction) -> float:
    """The smallest float that is certainly not below `value`; `inf` where no finite float is."""
    if isinstance(value, Fraction):
        return _outward(value, math.inf)
    if value.is_nan():
        return math.inf
    top = value.upper()
    return _outward(exact_fraction(top), math.inf) if top.is_finite() else (math.inf if top > 0 else -math.inf)


def float_below(value: Ball | Fraction) -> float:
    """The largest float that is certainly not above `value`; `-inf` where no finite float is."""
    if isinstance(value, Fraction):
        return _outward(value, -math.inf)
    if value.is_nan():
        return -math.inf
    bottom = value.lower()
    return (
        _outward(exact_fraction(bottom), -math.inf) if bottom.is_finite() else (-math.inf if bottom < 0 else math.inf)
    )


def float_near(value: Ball | Fraction) -> float:
    """The nearest float (within an ulp), with no promise on its side; infinite where it overflows."""
    if isinstance(value, Fraction):
        try:
            return value.numerator / value.denominator
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return float(value.mid())


def _outward(value: Fraction, side: float) -> float:
    near = float_near(value)
    if math.isinf(near):
        # An overflow towards `side` is the bound; away from it, the largest finite float is.
        return near if near == side else math.nextafter(near, side)
    while math.isfinite(near) and ((Fraction(near) < value) if side > 0 else (Fraction(near) > value)):
        near = math.nextafter(near, side)
    return near


def exact_fraction(exact: Ball) -> Fraction:
    """The rational value of a ball of radius 0, such as `x.lower()`.

    Below 2^-20000 and above 2^20000 it keeps only its sign and its smallness or size, as ±2^∓2000.
    """
    # Far outside the floats an exact value would have an enormous numerator or denominator.
    mantissa, exponent = (int(part) for part in exact.man_exp())
    magnitude = exponent + mantissa.bit_length()
    if mantissa and abs(magnitude) > _MAGNITUDE:
        sign = 1 if mantissa > 0 else -1
        return Fraction(sign, 1 << 2_000) if magnitude < 0 else Fraction(sign << 2_000)
    return Fraction(mantissa) * (Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent))


def normal_tail(x: Ball) -> Ball:
    """P(Z > x) for a standard normal Z."""
    return (x / arb(2).sqrt()).erfc() / 2


def normal_quantile(p: Ball) -> Ball:
    """The z with P(Z ≤ z) = p, for 0 < p < 1."""
    return -arb(2).sqrt() * (2 * p).erfcinv()
