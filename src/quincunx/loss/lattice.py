"""Losses that take finitely many, equally spaced values: randomized response and the discrete Laplace mechanism.

With x = e^{−unit}, n steps of the discrete Laplace law have the loss (n − 2j)·unit with probability 1/(1+x) for j = 0,
(1−x)/(1+x)·x^j for 0 < j < n, and x^n/(1+x) for j = n. One step is randomized response. Compositions of one unit stay
on its lattice: their probabilities are the coefficients of a product of polynomials.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, cast

import numpy as np
from flint import arb_poly
from numpy.typing import NDArray

from quincunx.loss.law import Bounds, Law, Moments, Profile, Real, Terms, log_with_error
from quincunx.loss.spectrum import MAX_ATOMS, PRECISION, Spectrum
from quincunx.numbers import Ball, Exact, ball, float_near, precision


@dataclass(frozen=True, slots=True, kw_only=True)
class LatticeLaw(Law):
    """`steps` steps of length `unit` > 0: the discrete Laplace law against its shift, P(k) ∝ e^{−unit·|k|}.

    `unit` is 1/t for noise of scale t lattice steps, or ln(p/(1−p)) for randomized response, both exact. One coordinate
    that moves n steps dominates any integer vector of ℓ1 length n (lattice.md).
    """

    unit: Exact
    steps: int

    def pure(self) -> Real:
        """steps·unit."""
        return self.unit * self.steps if isinstance(self.unit, Fraction) else ball(self.unit) * self.steps

    def zcdp(self) -> Bounds:
        """At most ε·tanh(ε/2), which every ε-DP pair satisfies, with equality at one step; at least D_1."""
        unit = ball(self.unit)
        epsilon = unit * self.steps
        ceiling = epsilon * (epsilon / 2).tanh()
        return (ceiling if self.steps == 1 else _divergence(unit, self.steps)), ceiling

    def kl(self) -> Bounds:
        """Σ P·(n − 2j)·unit."""
        value = _divergence(ball(self.unit), self.steps)
        return value, value

    def renyi(self, alpha: Fraction) -> Bounds:
        """ln Σ P·e^{(α−1)(n−2j)·unit}/(α − 1), the inner atoms as a geometric series."""
        unit, order, n = ball(self.unit), ball(alpha - 1), self.steps
        x, r = (-unit).exp(), (-unit * (1 + 2 * order)).exp()
        series = (r - r**n) / (1 - r)
        inside = (1 + (1 - x) * series + r**n) / (1 + x)
        value = unit * n + inside.log() / order
        return value, value

    def group(self, k: int) -> LatticeLaw:
        """k times as many steps."""
        return LatticeLaw(unit=self.unit, steps=self.steps * k)

    def family(self) -> Hashable:
        """One unit, one lattice."""
        return ("lattice", self.unit)

    def profile(self, terms: Terms) -> Profile | None:
        """The exact sum over the lattice of the composition."""
        laws = tuple((cast(LatticeLaw, law).steps, count) for law, count in terms)
        degree = sum(steps * count for steps, count in laws)
        return _spectrum(self.unit, laws) if degree <= MAX_ATOMS else None

    has_moments: ClassVar[bool] = True

    def log_moment(self, s: NDArray[np.complex128]) -> Moments:
        """s·n·unit + ln of the sum over the atoms, whose inner part is a geometric series in r = x·e^{−2s·unit}."""
        unit, n = float_near(ball(self.unit)), self.steps
        x = math.exp(-unit)
        exponent = -unit * (1 + 2 * s)
        last = np.exp(n * exponent)
        inside = (1 + last) / (1 + x)
        off = 2.0**-53 * (np.abs(last) * (4 * n * np.abs(exponent) + 8) + 16)
        if n > 1:
            # (1 − x)·(r − rⁿ)/(1 − r): both differences without cancellation; |1 − x| ≤ |1 − r|.
            series = np.exp(exponent) * np.expm1((n - 1) * exponent) / np.expm1(exponent)
            inside += -math.expm1(-unit) / (1 + x) * series
            off += 2.0**-53 * 64 * (n + n * np.abs(exponent)) * abs(math.expm1(-unit))
        return log_with_error(
            s * (n * unit), np.asarray(inside, dtype=np.complex128), off, 4 * 2.0**-53 * np.abs(s * (n * unit))
        )

    def covers(self, mine: Terms, theirs: Terms) -> bool:
        """One law covers every composition whose steps add up to no more (lattice.md)."""
        if len(mine) == 1 and mine[0][1] == 1:
            return self.steps >= sum(cast(LatticeLaw, law).steps * count for law, count in theirs)
        return mine == theirs


def _probabilities(unit: Ball, steps: int) -> list[Ball]:
    x = (-unit).exp()
    inside = (1 - x) / (1 + x)
    return [1 / (1 + x), *(inside * x**j for j in range(1, steps)), x**steps / (1 + x)]


def _divergence(unit: Ball, steps: int) -> Ball:
    # Σ P·(n − 2j)·unit with E[j] = x(1 − xⁿ)/(1 − x²), the geometric sums written out.
    x = (-unit).exp()
    return unit * (steps - 2 * x * (1 - x**steps) / (1 - x * x))


@lru_cache(maxsize=64)
def _spectrum(unit: Exact, laws: tuple[tuple[int, int], ...]) -> Spectrum:
    with precision(PRECISION):
        step = ball(unit)
        product = arb_poly([1])
        for steps, count in laws:
            product = product * arb_poly(_probabilities(step, steps)) ** count
        degree = sum(steps * count for steps, count in laws)
        return Spectrum.of(product.coeffs(), top=step * degree, gap=2 * step, missing=Ball(0))
