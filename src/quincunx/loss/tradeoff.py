"""The trade-off function of a loss, from its δ(ε).

f(α) is the smallest type II error of a test of level α. It is the upper envelope, over ε ≥ 0, of the lines
1 − δ(ε) − e^ε·α and e^{−ε}(1 − δ(ε) − α) (Dong, Roth and Su 2022, Proposition 2.12). One line with an upper bound on
δ is a lower bound on f. On an interval [a, b] both lines are at most their value with δ at b and e^ε at a, because δ
falls: so a partition of all ε ≥ 0 gives an upper bound, refined where it is largest.
"""

from __future__ import annotations

import heapq
import math
from fractions import Fraction
from typing import Final

from quincunx.loss.curve import Curve
from quincunx.numbers import Ball, ball, float_above, float_below

_WIDTH: Final = 1e-6
_MOST_INTERVALS: Final = 200


def tradeoff(curve: Curve, level: Fraction) -> tuple[float, float]:
    """Certified lower and upper bound on f(level)."""
    alpha = ball(level)
    # Beyond the last ε the first line is below 1 − e^ε·α and the second below e^{−ε}.
    end = min(60.0, math.log(1 / float(level)) + 20 if level else 60.0)
    lower = max(0.0, *(float_below(_line(curve, alpha, at)) for at in (0.0, end)))
    beyond = max(0.0, float_above(1 - Ball(end).exp() * alpha), float_above((-Ball(end)).exp()))
    queue = [(-_roof(curve, alpha, 0.0, end), 0.0, end)]
    for _ in range(_MOST_INTERVALS):
        roof, a, b = queue[0]
        if -roof <= max(lower, beyond) + _WIDTH:
            break
        heapq.heappop(queue)
        middle = (a + b) / 2
        lower = max(lower, float_below(_line(curve, alpha, middle)))
        for left, right in ((a, middle), (middle, b)):
            heapq.heappush(queue, (-_roof(curve, alpha, left, right), left, right))
    return lower, max(lower, beyond, -queue[0][0])


def _line(curve: Curve, alpha: Ball, epsilon: float) -> Ball:
    delta, growth = curve.delta(Ball(epsilon))[1], Ball(epsilon).exp()
    return (1 - delta - growth * alpha).max((1 - delta - alpha) / growth)


def _roof(curve: Curve, alpha: Ball, a: float, b: float) -> float:
    delta, growth = curve.delta(Ball(b))[0], Ball(a).exp()
    return float_above((1 - delta - growth * alpha).max(((1 - delta - alpha) / growth).max(Ball(0))))
