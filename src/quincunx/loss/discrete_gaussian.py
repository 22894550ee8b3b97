"""The loss of discrete Gaussian noise, which is not that of the continuous Gaussian."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb_poly

from quincunx.loss.law import Bounds, Law, Profile, Terms
from quincunx.loss.spectrum import MAX_ATOMS, PRECISION, Spectrum
from quincunx.numbers import Ball, ball, precision

# The sum is cut where the terms are below 2^-CUT_BITS; what is left out is added to the upper bound.
_CUT_BITS: Final = 220


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteGaussianLaw(Law):
    """P(k) ∝ e^{−k²/2·sigma2} on the integers against its shift by `shift` ≥ 1 steps.

    It dominates every shorter shift of one coordinate, and at `shift` 1 every integer vector of ℓ2 length 1, because
    such a vector moves one coordinate by one step.
    """

    sigma2: Fraction
    shift: int

    def pure(self) -> Ball:
        """Unbounded."""
        return Ball.pos_inf()

    def zcdp(self) -> Bounds:
        """shift²/(2·sigma2) (Canonne, Kamath and Steinke 2020, Theorem 4)."""
        rho = self.shift**2 / (2 * self.sigma2)
        return rho, rho

    def group(self, k: int) -> DiscreteGaussianLaw:
        """A shift k times as long."""
        return DiscreteGaussianLaw(sigma2=self.sigma2, shift=self.shift * k)

    def family(self) -> Hashable:
        """Only equal laws compose on one lattice."""
        return self

    def profile(self, terms: Terms) -> Profile | None:
        """The exact sum over the integers, cut where nothing is left."""
        count = sum(count for _, count in terms)
        reach = _reach(self.sigma2)
        return _spectrum(self, count, reach) if 2 * reach * count <= MAX_ATOMS else None


def _reach(sigma2: Fraction) -> int:
    # e^{−m²/2σ²} < 2^-CUT_BITS at m ≥ σ·√(2·CUT_BITS·ln 2).
    return math.isqrt(math.ceil(sigma2 * Fraction(_CUT_BITS * 14, 10))) + 2


@lru_cache(maxsize=64)
def _spectrum(law: DiscreteGaussianLaw, count: int, reach: int) -> Spectrum:
    with precision(PRECISION):
        weights, tail = gaussian_weights(law.sigma2, reach)
        total = weights[0] + 2 * sum(weights[1:], Ball(0)) + 2 * tail
        one = arb_poly([weight / total for weight in [*reversed(weights[1:]), *weights]])
        gap = ball(Fraction(law.shift) / law.sigma2)
        # The loss at the sum s of `count` draws is (count·n² − 2·n·s)/(2σ²); s starts at −count·reach.
        top = ball(Fraction(count * law.shift**2 + 2 * law.shift * count * reach) / (2 * law.sigma2))
        lost = 2 * count * tail / total
        return Spectrum.of((one**count).coeffs(), top=top, gap=gap, missing=lost.upper())


def gaussian_weights(sigma2: Fraction, reach: int) -> tuple[list[Ball], Ball]:
    """e^{−k²/2σ²} for k = 0 … reach, and a ball from 0 to a bound on their sum over k > reach."""
    weights = [(-ball(Fraction(k * k) / (2 * sigma2))).exp() for k in range(reach + 1)]
    # For k > reach each term is at most e^{−(2·reach+1)/2σ²} times the one before: a geometric series.
    ratio = (-ball(Fraction(2 * reach + 1) / (2 * sigma2))).exp()
    return weights, Ball(0).union(weights[-1] * ratio / (1 - ratio))
