"""The trade-off function of a loss, from its δ(ε).

f(α) is the smallest type II error of a test of level α. It is the upper envelope, over ε ≥ 0, of the lines
1 − δ(ε) − e^ε·α and e^{−ε}(1 − δ(ε) − α) (Dong, Roth and Su 2022, Proposition 2.12). One line with an upper bound on
δ is a lower bound on f. On an interval [a, b] both lines are at most their value with δ at b and e^ε at a, because δ
falls: so a partition of all ε ≥ 0 gives an upper bound, refined where it is largest. That closes in on f where both
bounds on δ do. Where δ is known from above alone (a stated law), the best line is searched for: every line is valid.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Final

from quincunx.loss.curve import Curve
from quincunx.numbers import Ball, ball, float_above, float_below

_WIDTH: Final = 1e-6
_MOST_INTERVALS: Final = 200
_RATIO: Final = (math.sqrt(5) - 1) / 2
_STEPS: Final = 40


def tradeoff(curve: Curve, level: Fraction) -> tuple[float, float]:
    """Certified lower and upper bound on f(level)."""
    alpha = ball(level)
    # Beyond the last ε the first line is below 1 − e^ε·α and the second below e^{−ε}.
    end = min(60.0, math.log(1 / float(level)) + 20 if level else 60.0)
    # The corner of a pure guarantee, which no bisection meets.
    corner = [curve.pure] if curve.pure.is_finite() else []
    lower = max(0.0, *(float_below(_line(curve, alpha, at)) for at in (Ball(0), Ball(end), *corner)))
    beyond = max(0.0, float_above(1 - Ball(end).exp() * alpha), float_above((-Ball(end)).exp()))
    queue = [(-_roof(curve, alpha, 0.0, end), 0.0, end)]
    for _ in range(_MOST_INTERVALS):
        roof, a, b = queue[0]
        if -roof <= max(lower, beyond) + _WIDTH:
            break
        heapq.heappop(queue)
        middle = (a + b) / 2
        lower = max(lower, float_below(_line(curve, alpha, Ball(middle))))
        for left, right in ((a, middle), (middle, b)):
            heapq.heappush(queue, (-_roof(curve, alpha, left, right), left, right))
    else:
        last = min(end, float_above(curve.pure)) if corner else end
        lower = max(lower, *(_searched(partial(_height, line, curve, alpha), last) for line in (_first, _second)))
    return lower, max(lower, beyond, -queue[0][0])


def _first(curve: Curve, alpha: Ball, epsilon: Ball) -> Ball:
    return 1 - curve.upper(epsilon) - epsilon.exp() * alpha


def _second(curve: Curve, alpha: Ball, epsilon: Ball) -> Ball:
    return (1 - curve.upper(epsilon) - alpha) / epsilon.exp()


def _line(curve: Curve, alpha: Ball, epsilon: Ball) -> Ball:
    return _first(curve, alpha, epsilon).max(_second(curve, alpha, epsilon))


def _height(line: Callable[[Curve, Ball, Ball], Ball], curve: Curve, alpha: Ball, epsilon: float) -> float:
    return float_below(line(curve, alpha, Ball(epsilon)))


def _searched(height: Callable[[float], float], end: float) -> float:
    """The largest height met by golden section on [0, end]: each line rises and then falls, being concave in e^{±ε}."""
    a, b = 0.0, end
    left, right = b - _RATIO * (b - a), a + _RATIO * (b - a)
    here, there = height(left), height(right)
    best = max(here, there)
    for _ in range(_STEPS):
        if here >= there:
            b, right, there = right, left, here
            left = b - _RATIO * (b - a)
            here = height(left)
        else:
            a, left, here = left, right, there
            right = a + _RATIO * (b - a)
            there = height(right)
        best = max(best, here, there)
    return best


def _roof(curve: Curve, alpha: Ball, a: float, b: float) -> float:
    delta, growth = curve.delta(Ball(b))[0], Ball(a).exp()
    return float_above((1 - delta - growth * alpha).max(((1 - delta - alpha) / growth).max(Ball(0))))
