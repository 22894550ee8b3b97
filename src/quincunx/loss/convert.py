"""From the parameters of a loss to δ(ε): bounds that hold for every mechanism with those parameters."""

from __future__ import annotations

import math
from fractions import Fraction

from quincunx.numbers import Ball, ball, float_above, float_near


def delta_from_pure(bound: Ball, epsilon: Ball) -> Ball:
    """The largest δ(ε) of a pure `bound`-DP mechanism: that of randomized response, which dominates them all.

    (e^b − e^ε)/(1 + e^b) for ε < b, and 0 beyond (Kairouz, Oh and Viswanath 2015, Theorem 3.4 at one use).
    """
    if not bound.is_finite():
        return Ball(1)
    found = ((1 - (epsilon - bound).exp()) / (1 + (-bound).exp())).max(Ball(0))
    return found if found.is_finite() else Ball(1)


def delta_from_zcdp(rho: Ball, epsilon: Ball) -> Ball:
    """An upper bound on δ(ε) of a ρ-zCDP mechanism.

    For every α > 1, δ ≤ e^{(α−1)(αρ−ε)}/(α−1)·(1 − 1/α)^α (Canonne, Kamath and Steinke 2020, Corollary 13). The order
    is searched in floats; the bound is evaluated at it in balls, so a poor order only loosens it.
    """
    if not rho.is_finite():
        return Ball(1)
    order = Ball(_best_order(float_above(rho), float_near(epsilon)))
    return _chernoff(order, order * rho, epsilon)


def delta_from_renyi(order: Fraction, divergence: Ball, epsilon: Ball) -> Ball:
    """An upper bound on δ(ε) where D_α ≤ `divergence` at one order α > 1, in both directions.

    δ = E_P[(1 − e^{ε−L})⁺] ≤ E_P[e^{(α−1)(L−ε)}]·max_y (1 − e^{−y})e^{−(α−1)y}, and the maximum, at e^y = α/(α−1), is
    (1 − 1/α)^α/(α−1) (Canonne, Kamath and Steinke 2020, Proposition 12).
    """
    return _chernoff(ball(order), divergence, epsilon) if divergence.is_finite() else Ball(1)


def delta_from_kl(divergence: Ball) -> Ball:
    """An upper bound on δ(0), and so on δ at every ε ≥ 0, where D_1 ≤ `divergence` in one direction.

    The total variation distance is at most √(D_1/2) (Pinsker) and at most √(1 − e^{−D_1}) (Bretagnolle and Huber 1979).
    """
    if not divergence.is_finite():
        return Ball(1)
    # The upper end of the ball: its lower end may be below 0.
    most = divergence.upper().max(Ball(0))
    return (most / 2).sqrt().min((-(-most).expm1()).sqrt())


def _chernoff(order: Ball, divergence: Ball, epsilon: Ball) -> Ball:
    exponent = (order - 1) * (divergence - epsilon) - (order - 1).log() + order * (-1 / order).log1p()
    found = exponent.exp()
    # Where the working precision is lost nothing is known.
    return found.min(Ball(1)) if found.is_finite() else Ball(1)


def _best_order(rho: float, epsilon: float) -> float:
    def log_delta(order: float) -> float:
        return (order - 1) * (order * rho - epsilon) - math.log(order - 1) + order * math.log1p(-1 / order)

    # Golden section on ln(α − 1): the logarithm of the bound is convex in α.
    low, high = math.log(1e-6), math.log(max((epsilon + 1) / max(rho, 1e-300), 1.0) + 2)
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    for _ in range(60):
        if log_delta(1 + math.exp(left)) < log_delta(1 + math.exp(right)):
            high, right = right, left
            left = high - ratio * (high - low)
        else:
            low, left = left, right
            right = low + ratio * (high - low)
    return 1 + math.exp((low + high) / 2)


def gaussian_epsilon(mu2: float, delta: float) -> float:
    """An ε near that of Gaussian noise at `mu2` = μ² and `delta`, in floats: where to begin to look, never a bound."""
    if not (0 < delta < 1 and 0 < mu2 < math.inf):
        return 1.0
    mu, ratio = math.sqrt(mu2), math.sqrt(2)
    low, high = 0.0, mu2 / 2 + mu * (math.sqrt(-2 * math.log(delta)) + 1)
    for _ in range(44):
        middle = (low + high) / 2
        near, far = (middle / mu - mu / 2) / ratio, (middle / mu + mu / 2) / ratio
        # e^ε times the second tail, without overflow: that of the first where both are equal.
        second = math.exp(middle) * math.erfc(far) if far < 26 else math.exp(-near * near) / (far * math.sqrt(math.pi))
        low, high = (middle, high) if math.erfc(near) - second > 2 * delta else (low, middle)
    return high
