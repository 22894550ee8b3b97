"""The swap rates that reach a wanted ε: for derangements an interval between two roots, which may be empty.

ε(p) is the larger of ln o, which rises with the rate, and a term that falls with it (`epsilon.md`). The roots are
found in floats, rounded to the side that costs less, and verified with certified arithmetic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from quincunx.errors import ParameterError, PrivacyError, VerificationError
from quincunx.invariant.swapping.epsilon import BITS, Kind, SwapEpsilon, derangements, growth, read_size, supremum
from quincunx.numbers import Ball, Exact, Number, above, amount, ball, float_near, number, precision
from quincunx.spec import at_most

_DIGITS: Final = 12
_STEPS: Final = 64
# Logarithms of the odds that are searched: rates from 1e-300 to 1 − 1e-300.
_FARTHEST: Final = 690.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapRates:
    """The rates at which swapping costs at most ε: exactly those from `low` to `high`, but for rounding inwards to 12
    significant digits.

    epsilon: ε, exact as typed. low: the smaller root of ε(p) = ε, rounded up. high: the larger root, rounded down; 1
    for the uniform kind, which has one root only. smallest: the smallest ε that any rate attains, with its rate.
    """

    epsilon: Exact
    low: Fraction
    high: Fraction
    smallest: SwapEpsilon


def swap_rate(*, epsilon: Number, largest_stratum: Number, kind: object = Kind.DERANGEMENT) -> SwapRates:
    """The rates at which swapping costs at most `epsilon`, for a largest stratum of b ≥ 2 records.

    Raises PrivacyError where no rate does, with the smallest ε that can be attained and its rate.
    """
    chosen, b, wanted = Kind.read(kind), read_size(largest_stratum), number(epsilon, "epsilon")
    if b < 2:
        hint = "Where no stratum has two records that can exchange anything, every rate costs 0."
        raise ParameterError("must be at least 2", where="largest_stratum", got=str(b), hint=hint)
    if at_most(wanted, Fraction(0)) and not (chosen is Kind.UNIFORM or b == 2):
        raise ParameterError("must be greater than 0", where="epsilon", got=amount(wanted))
    smallest = SwapEpsilon(rate=_best_rate(b, chosen), largest_stratum=b, kind=chosen)
    if not _reaches(smallest.rate, b, chosen, wanted):
        hint = f"Ask for at least ε = {above(smallest.exact)}, which the rate {float(smallest.rate):.6f} attains."
        if smallest.rate != 1:
            hint += ' With kind="uniform" every ε can be attained.'
        what = f"no rate attains this ε when the largest stratum has {b:,} records"
        raise PrivacyError(what, where="epsilon", got=amount(wanted), hint=hint)
    low = _outermost(smallest.rate, b, chosen, wanted, down=True)
    high = Fraction(1) if chosen is Kind.UNIFORM else _outermost(smallest.rate, b, chosen, wanted, down=False)
    return SwapRates(epsilon=wanted, low=low, high=high, smallest=smallest)


def _best_rate(b: int, kind: Kind) -> Fraction:
    """Where the rising and the falling term meet, rounded to 12 digits."""
    if kind is Kind.UNIFORM:
        return Fraction(1)
    with precision(BITS):
        # b = 2: ln o meets −ln o at o = 1; b = 3: ln o meets (ln 2 − ln o)/2 at o = 2^{1/3}.
        middle = ball(derangements(b)).log() / b if b <= 3 else (growth(b) * growth(b - 1)).log() / 4
        return _rounded(middle.exp(), up=False)


def _outermost(inside: Fraction, b: int, kind: Kind, wanted: Exact, *, down: bool) -> Fraction:
    """The rate farthest from `inside`, downwards or upwards, that costs at most `wanted`."""
    best, near, far = inside, _log_odds(inside), -_FARTHEST if down else _FARTHEST
    for _ in range(_STEPS):
        middle = (near + far) / 2
        tried = _rate(middle, up=down)
        if _reaches(tried, b, kind, wanted):
            best, near = tried, middle
        else:
            far = middle
    if not _reaches(best, b, kind, wanted):
        raise VerificationError("the rate that was found does not attain the ε that was asked", where="swap_rate")
    return best


def _reaches(rate: Fraction, b: int, kind: Kind, wanted: Exact) -> bool:
    with precision(BITS):
        return at_most(supremum(rate, b, kind), wanted) is True


def _rate(log_odds: float, *, up: bool) -> Fraction:
    with precision(BITS):
        return _rounded(Ball(log_odds).exp(), up=up)


def _log_odds(rate: Fraction) -> float:
    if rate == 1:
        return _FARTHEST
    with precision(BITS):
        return float_near(ball(rate / (1 - rate)).log())


def _rounded(odds: Ball, *, up: bool) -> Fraction:
    """o/(1 + o) with 12 significant digits of the smaller of it and its complement, rounded up or down."""
    rate, rest = odds / (1 + odds), 1 / (1 + odds)
    if rate < rest:
        return _digits(rate, up=up)
    return 1 - _digits(rest, up=not up)


def _digits(value: Ball, *, up: bool) -> Fraction:
    place = math.floor(float_near(value.log()) / math.log(10)) + 1 - _DIGITS
    unit = Fraction(10) ** place
    # The integer nearest to a ball of 256 bits is off by one unit of 1e-12 at most, and what is found is verified.
    count = (value / ball(unit)).ceil() if up else (value / ball(unit)).floor()
    return int(float_near(count)) * unit
