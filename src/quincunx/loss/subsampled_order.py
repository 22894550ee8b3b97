"""Rényi and Kullback–Leibler divergences of the sampled Gaussian, between certified bounds (subsampled.md).

With w = 1 − r + r·e^l, l the base loss, N(−μ²/2, μ²) under Q:
 Poisson        (α − 1)·D_α = ln E_Q[w^α],  D_1 = E_Q[w·ln w]: a removed person, the larger direction;
 replacing      (α − 1)·D_α = ln(1 + E_Q[1_{l>0}·(w^α − w + w^{1−α} − 1)]),  D_1 = E_Q[1_{l>0}·(w − 1)·ln w].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final

from flint import acb

from quincunx.numbers import Ball, ball, float_above, normal_tail, precision

_PRECISION: Final = 160
# The normal law is cut at this many standard deviations: less than 1e-38 is beyond, and it is added.
_BEYOND: Final = 13
# Quadrature goes piece by piece, each so many standard deviations long; where that is too many, it is not tried.
_PIECE: Final = 8
_MOST_PIECES: Final = 400
# Beyond this whole order the sum is left to quadrature.
_MOST_TERMS: Final = 4096


@lru_cache(maxsize=256)
def divergence(mu2: Fraction, rate: Fraction, replacing: bool, alpha: Fraction) -> tuple[Ball, Ball]:
    """Balls around a lower and an upper bound on D_α, the larger direction, at an order α > 1."""
    with precision(_PRECISION):
        if not replacing and alpha.denominator == 1 and alpha <= _MOST_TERMS:
            excess = _whole_order(mu2, rate, int(alpha))
        else:
            order = acb(ball(alpha))

            def integrand(w: acb, analytic: bool) -> acb:
                # w^α − 1 − α(w − 1), whose last part has the expectation 0, or (w^α − 1)(1 − w^{1−α}).
                logarithm = w.log(analytic)
                power = (order * logarithm).exp()
                if replacing:
                    return (power - 1) * (1 - ((1 - order) * logarithm).exp())
                return power - 1 - order * (w - 1)

            excess = _expectation(mu2, rate, replacing, integrand, alpha, scaled=True)
        value = (1 + excess).log() / ball(alpha - 1)
        return (value, value) if value.is_finite() else (Ball(0), Ball.pos_inf())


@lru_cache(maxsize=256)
def kullback_leibler(mu2: Fraction, rate: Fraction, replacing: bool) -> tuple[Ball, Ball]:
    """Balls around a lower and an upper bound on D_1, the larger direction."""

    def integrand(w: acb, analytic: bool) -> acb:
        # w·ln w − (w − 1), whose last part has the expectation 0, or (w − 1)·ln w.
        logarithm = w.log(analytic)
        return (w - 1) * logarithm if replacing else w * logarithm - (w - 1)

    with precision(_PRECISION):
        value = _expectation(mu2, rate, replacing, integrand, Fraction(2), scaled=False)
        return (value, value) if value.is_finite() else (Ball(0), Ball.pos_inf())


def _whole_order(mu2: Fraction, rate: Fraction, alpha: int) -> Ball:
    """E_Q[w^α] − 1 = Σ_k C(α, k)·(1 − r)^{α−k}·r^k·(e^{k(k−1)μ²/2} − 1)."""
    odds, weight, total = ball(rate / (1 - rate)), ball(1 - rate) ** alpha, Ball(0)
    for k in range(alpha + 1):
        total += weight * ball(mu2 * k * (k - 1) / 2).expm1()
        weight = weight * odds * (alpha - k) / (k + 1)
    return total


def _expectation(
    mu2: Fraction,
    rate: Fraction,
    replacing: bool,
    integrand: Callable[[acb, bool], acb],
    order: Fraction,
    *,
    scaled: bool,
) -> Ball:
    """E_Q[integrand(w)], over l > 0 only with `replacing`, for an integrand between 0 and w^order + order + 1.

    `scaled` says that the result is about as large as that bound, so that errors may be relative to it.
    """
    mu, share, highest = ball(mu2).sqrt(), acb(ball(rate)), ball(order)
    swell = highest * (highest - 1) * ball(mu2) / 2
    # For l > 0 w^α ≤ e^{αl}, and E[e^{αl}; z > R] = e^{α(α−1)μ²/2}·P(Z > R − αμ): a small share of r^α·e^{α(α−1)μ²/2},
    # which is less than the whole, or of 1.
    lost = float_above(swell)
    if scaled:
        lost = min(lost, -float_above(ball(rate).log() * highest))
    past = math.ceil(_BEYOND + math.sqrt(2 * max(lost, 0.0)))
    start = mu / 2 if replacing else -Ball(_BEYOND)
    end = Ball(past + math.ceil(float_above(highest * mu)))
    pieces = math.ceil(float_above(end - start) / _PIECE)
    if pieces > _MOST_PIECES:
        return Ball.nan()
    sizes = (float_above(each) for each in (mu, ball(rate), highest, end))
    height = _height(*sizes) if scaled else 0.0

    def along(z: acb, analytic: bool) -> acb:
        w = 1 + share * (acb(mu) * z - acb(ball(mu2)) / 2).expm1()
        return integrand(w, analytic) * (-z * z / 2 - height).exp()

    edges = [start + (end - start) * k / pieces for k in range(pieces + 1)]
    inside = sum((acb.integral(along, acb(a), acb(b)).real for a, b in pairwise(edges)), Ball(0))
    left = swell.exp() * normal_tail(Ball(past)) + (highest + 1) * normal_tail(end)
    if not replacing:
        left += (highest + 1) * normal_tail(Ball(_BEYOND))
    return inside * Ball(height).exp() / (2 * Ball.pi()).sqrt() + Ball(0).union(left.upper())


def _height(mu: float, rate: float, order: float, end: float) -> float:
    """About the largest α·ln w − z²/2, so that the integrand is of ordinary size: a scale, not a bound."""
    places = (end * k / 1000 for k in range(1001))
    return max(0.0, *(order * _log_w(rate, mu * (z - mu / 2)) - z * z / 2 for z in places))


def _log_w(rate: float, loss: float) -> float:
    return math.log1p(rate * math.expm1(loss)) if loss < 500 else loss + math.log(rate)
