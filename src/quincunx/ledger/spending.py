"""Which amounts one spend may be. Sums of them stay short for ever, whoever spends and however often.

An amount is kept as it is if its denominator divides 10^30 · lcm(1, …, 64) · (the denominator of the registered total);
every sum of such amounts has such a denominator too. Anything else is rounded up to a multiple of 1e-30.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

_UNITS: Final = 10**30
_PARTS: Final = _UNITS * math.lcm(*range(1, 65))
# The smallest spend, as a share of the total, where the curator registered none.
SHARE: Final = Fraction(1, 10**6)


def exact(amount: Fraction, total: Fraction) -> bool:
    """Whether the amount is kept as it is."""
    return _PARTS * total.denominator % amount.denominator == 0


def rounded(amount: Fraction, total: Fraction, remaining: Fraction, *, down: bool = False) -> Fraction:
    """The amount as it is spent: exact, or rounded up, but not above what remains of the total if it was not before.

    down: rounded down instead, for shares of a budget that must not add up to more than it.
    """
    if exact(amount, total):
        return amount
    if down:
        return Fraction(math.floor(amount * _UNITS), _UNITS)
    up = Fraction(math.ceil(amount * _UNITS), _UNITS)
    return remaining if amount <= remaining < up else up
