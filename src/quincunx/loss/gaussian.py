"""The loss of Gaussian noise: N(0, 1) against N(μ, 1). Compositions, groups and δ(ε) are closed."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from quincunx.loss.law import Bounds, Law, Moments, Profile, Terms
from quincunx.numbers import Ball, ball, float_near, normal_tail, precision


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianLaw(Law):
    """N(0, 1) against N(μ, 1), `mu2` = μ² = Δ²/σ² > 0 for ℓ2 distance Δ and noise of standard deviation σ.

    Continuous noise is log-concave and symmetric, so this pair dominates every shift of length at most Δ in any
    direction and any dimension (Dong, Roth and Su 2022, Theorem 2.7).
    """

    mu2: Fraction

    def pure(self) -> Ball:
        """Unbounded."""
        return Ball.pos_inf()

    def zcdp(self) -> Bounds:
        """μ²/2: D_α = α·μ²/2 for every α (Bun and Steinke 2016, Lemma 2.4)."""
        return self.mu2 / 2, self.mu2 / 2

    def kl(self) -> Bounds:
        """μ²/2."""
        return self.zcdp()

    def renyi(self, alpha: Fraction) -> Bounds:
        """α·μ²/2."""
        return alpha * self.mu2 / 2, alpha * self.mu2 / 2

    def gdp(self) -> Fraction:
        """μ²."""
        return self.mu2

    def group(self, k: int) -> GaussianLaw:
        """k·μ."""
        return GaussianLaw(mu2=self.mu2 * k * k)

    def family(self) -> Hashable:
        """All Gaussians compose to one."""
        return "gaussian"

    def profile(self, terms: Terms) -> Profile:
        """μ² adds (Dong, Roth and Su 2022, Corollary 3.3)."""
        return _GaussianProfile(_total(terms))

    has_moments: ClassVar[bool] = True

    def log_moment(self, s: NDArray[np.complex128]) -> Moments:
        """s(s + 1)·μ²/2: four roundings."""
        value = s * (s + 1) * (float_near(self.mu2) / 2)
        return value, 8 * 2.0**-53 * np.abs(value)

    def log_decay(self, sigma: float, omega: float) -> float:  # noqa: ARG002
        """−ω²·μ²/2, exactly."""
        return -0.5 * omega * omega * float_near(self.mu2) * (1 - 1e-12)

    def merged(self, terms: Terms) -> Terms:
        """One Gaussian."""
        return [(GaussianLaw(mu2=_total(terms)), 1)]

    def covers(self, mine: Terms, theirs: Terms) -> bool:
        """By μ."""
        return _total(mine) >= _total(theirs)


def _total(terms: Terms) -> Fraction:
    return sum((cast(GaussianLaw, law).mu2 * count for law, count in terms), Fraction(0))


@dataclass(frozen=True, slots=True)
class _GaussianProfile:
    mu2: Fraction

    def delta(self, epsilon: Ball) -> tuple[Ball, Ball]:
        # Balle and Wang 2018, Theorem 8. The difference cancels: raise the precision until it has 40 bits of its own.
        for bits in (128, 512, 2048):
            with precision(bits):
                mu = ball(self.mu2).sqrt()
                value = normal_tail(epsilon / mu - mu / 2) - epsilon.exp() * normal_tail(epsilon / mu + mu / 2)
            if value.rel_accuracy_bits() > 40:
                break
        return value, value
