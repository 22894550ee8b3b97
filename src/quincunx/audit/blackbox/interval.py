"""Clopper–Pearson bounds on a probability, certified: floats that are rounded outwards.

`lower(count, total, risk)` is a float p with P(Bin(total, p) ≥ count) ≤ risk, so that a true probability below p makes
as many successes with probability at most `risk`. It is within a millionth of its distance from count/total of the
largest such number. The binomial tail is Arb's incomplete beta function.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Final

from quincunx.errors import ParameterError
from quincunx.numbers import Ball, ball, precision

# Balls say how sharp they are; more bits would cost more than the width of the search gains.
_PRECISION: Final = 64
_WIDTH: Final = 1e-6
_MOST_STEPS: Final = 200


@lru_cache(maxsize=4096)
def lower(count: int, total: int, risk: Fraction) -> float:
    """A certified lower bound on a probability, from `count` successes in `total` trials; wrong with at most `risk`."""
    _check(count, total, risk)
    if count == 0:
        return 0.0
    # P(Bin(n, p) ≥ k) = I_p(k, n − k + 1), rising in p.
    return _outermost(lambda p: p.beta_lower(Ball(count), Ball(total - count + 1), 1), count, total, risk, 0.0)


@lru_cache(maxsize=4096)
def upper(count: int, total: int, risk: Fraction) -> float:
    """A certified upper bound on a probability, from `count` successes in `total` trials; wrong with at most `risk`."""
    _check(count, total, risk)
    if count == total:
        return 1.0
    # P(Bin(n, p) ≤ k) = I_{1−p}(n − k, k + 1), falling in p.
    return _outermost(lambda p: (1 - p).beta_lower(Ball(total - count), Ball(count + 1), 1), count, total, risk, 1.0)


def _outermost(tail: Callable[[Ball], Ball], count: int, total: int, risk: Fraction, far: float) -> float:
    """The float closest to count/total that certainly has a tail of at most `risk`; `far`, 0 or 1, has tail 0."""
    with precision(_PRECISION):
        # In logarithms the tail is nearly a parabola around count/total, so its square root is nearly a line.
        goal = math.sqrt(float(-ball(risk).log().mid()))

        def asked(p: float) -> tuple[bool, float]:
            found = tail(Ball(p))
            # A tail that is not known is no proof; one that cannot be told from 0 is as good as any.
            if not found.is_finite():
                return False, -1.0
            top = found.upper()
            return bool(top <= ball(risk)), math.sqrt(max(0.0, float(-top.log().lower()))) if top > 0 else math.inf

        sure, near = far, count / total
        low, high = math.inf, asked(near)[1]
        guess = _wilson(count, total, goal, far)
        for _ in range(_MOST_STEPS):
            if not min(sure, near) < guess < max(sure, near):
                guess = (sure + near) / 2
            if abs(near - sure) <= _WIDTH * abs(count / total - sure) or guess in (sure, near):
                break
            proved, value = asked(guess)
            if proved:
                sure, low = guess, value
            else:
                near, high = guess, value
            guess = _between(sure, low, near, high, goal)
    return sure


def _between(sure: float, low: float, near: float, high: float, goal: float) -> float:
    """Where the line through both ends meets the goal, moved a little towards the nearer end so that both close in."""
    if not math.isfinite(low) or low - high <= 0:
        return (sure + near) / 2
    share = (low - goal) / (low - high)
    nudge = _WIDTH / 4
    # The crossing is almost exact: the next guess falls on the side that is still far away.
    side = -nudge if share > 1e-3 else nudge
    return sure + (near - sure) * min(max(share * (1 + side) + (nudge if side > 0 else 0.0), 1e-9), 1 - 1e-9)


def _wilson(count: int, total: int, goal: float, far: float) -> float:
    # e^{−z²/2} is about the risk: z = √2·goal.
    z = math.sqrt(2) * goal
    centre = (count + z * z / 2) / (total + z * z)
    half = z / (total + z * z) * math.sqrt(count * (total - count) / total + z * z / 4)
    return centre - half if far == 0.0 else centre + half


def _check(count: int, total: int, risk: Fraction) -> None:
    if not 0 <= count <= total or total < 1:
        raise ParameterError("successes are from 0 to the number of trials", where="count", got=f"{count} of {total}")
    if not 0 < risk < 1:
        raise ParameterError("must be between 0 and 1, both excluded", where="risk", got=str(risk)[:40])
