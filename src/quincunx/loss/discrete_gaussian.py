"""The loss of discrete Gaussian noise, which is not that of the continuous Gaussian."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np
from flint import arb_poly
from numpy.typing import NDArray

from quincunx.loss.law import Bounds, Law, Moments, Profile, Terms, log_with_error
from quincunx.loss.spectrum import MAX_ATOMS, PRECISION, Spectrum
from quincunx.numbers import Ball, ball, float_near, precision

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

    def kl(self) -> Bounds:
        """shift²/(2·sigma2), because E[k] = 0."""
        return self.zcdp()

    def renyi(self, alpha: Fraction) -> Bounds:
        """At most α·shift²/(2·sigma2) (Canonne, Kamath and Steinke 2020, Theorem 4), and equal to it where α·shift is
        whole; at least that at the next such order below, because D_α does not fall."""
        rho = self.shift**2 / (2 * self.sigma2)
        return rho * Fraction(math.floor(alpha * self.shift), self.shift), alpha * rho

    def gdp(self) -> Ball:
        """None: its trade-off curve has corners below every Gaussian curve of the same slope."""
        return Ball.pos_inf()

    has_moments: ClassVar[bool] = True

    def log_moment(self, s: NDArray[np.complex128]) -> Moments:
        """ln Σ_k e^{−k²/2σ² + s(n² − 2nk)/2σ²}/Σ_k e^{−k²/2σ²}, summed directly for small σ, else after Poisson."""
        sigma2, n = float_near(self.sigma2), self.shift
        # Terms j steps from the peak, itself at most half a step off, are e^{−(j−1/2)²·fall} of it: to below e^{−50}.
        fall = 1 / (2 * sigma2) if sigma2 < 0.35 else 2 * math.pi**2 * sigma2
        reach = math.ceil(math.sqrt(50 / fall))
        offsets = np.arange(-reach, reach + 1)
        if sigma2 < 0.35:
            # The terms peak at k = −n·Re s.
            k = np.round(-n * s.real)[:, None] + offsets
            exponents = (-k * k + s[:, None] * (n * n - 2 * n * k)) / (2 * sigma2)
            parts = (k * k + np.abs(s[:, None]) * (n * n + 2 * n * np.abs(k))) / (2 * sigma2)
            norm = math.log(math.fsum(math.exp(-j * j / (2 * sigma2)) for j in range(-12, 13)))
        else:
            # Σ_k e^{−(k+sn)²/2σ²} ∝ Σ_m e^{−2π²σ²m² + 2πi·m·s·n}, peaked at m = −n·Im s/2πσ².
            m = np.round(-n * s.imag / (2 * math.pi * sigma2))[:, None] + offsets
            square = (s * (s + 1) * (n * n / (2 * sigma2)))[:, None]
            exponents = square - 2 * math.pi**2 * sigma2 * m * m + 2j * math.pi * n * m * s[:, None]
            parts = np.abs(square) + 2 * math.pi**2 * sigma2 * m * m + 2 * math.pi * n * np.abs(m * s[:, None])
            norm = math.log(math.fsum(math.exp(-2 * math.pi**2 * sigma2 * j * j) for j in range(-5, 6)))
        top = exponents.real.max(axis=1)
        inside = np.exp(exponents - top[:, None]).sum(axis=1)
        # Each term is off by the rounding of the parts of its exponent.
        off = 16 * 2.0**-53 * (np.exp(exponents.real - top[:, None]) * (parts + 4)).sum(axis=1)
        return log_with_error((top - norm).astype(np.complex128), inside, off, 8 * 2.0**-53 * (np.abs(top) + 1))

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
