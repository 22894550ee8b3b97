"""From the parameters of a loss to δ(ε): bounds that hold for every mechanism with those parameters."""

from __future__ import annotations

import math

from quincunx.numbers import Ball, float_above, float_near


def delta_from_pure(bound: Ball, epsilon: Ball) -> Ball:
    """The largest δ(ε) of a pure `bound`-DP mechanism: that of randomized response, which dominates them all.

    (e^b − e^ε)/(1 + e^b) for ε < b, and 0 beyond (Kairouz, Oh and Viswanath 2015, Theorem 3.4 at one use).
    """
    if not bound.is_finite():
        return Ball(1)
    return ((1 - (epsilon - bound).exp()) / (1 + (-bound).exp())).max(Ball(0))


def delta_from_zcdp(rho: Ball, epsilon: Ball) -> Ball:
    """An upper bound on δ(ε) of a ρ-zCDP mechanism.

    For every α > 1, δ ≤ e^{(α−1)(αρ−ε)}/(α−1)·(1 − 1/α)^α (Canonne, Kamath and Steinke 2020, Corollary 13). The order
    is searched in floats; the bound is evaluated at it in balls, so a poor order only loosens it.
    """
    if not rho.is_finite():
        return Ball(1)
    order = Ball(_best_order(float_above(rho), float_near(epsilon)))
    exponent = (order - 1) * (order * rho - epsilon) - (order - 1).log() + order * (-1 / order).log1p()
    return exponent.exp().min(Ball(1))


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
