"""Amplification by subsampling people: a Gaussian mechanism that sees each person with a small probability.

Poisson sampling with add/remove: with (P, Q) the mechanism's pair, the sampled pair is ((1−r)Q + rP, Q) when a person
is removed and (Q, (1−r)Q + rP) when one is added; both are composed and the larger δ counts. Sampling without
replacement with replace has one symmetric pair, which agrees with the first on losses above 0 (subsampled.md).
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from quincunx.loss.gaussian import GaussianLaw
from quincunx.loss.grid import Grid
from quincunx.loss.law import Bounds, Law, Profile, Terms, View
from quincunx.loss.stated import StatedLaw
from quincunx.loss.subsampled_cells import Line, grid
from quincunx.loss.subsampled_order import divergence, kullback_leibler
from quincunx.numbers import Ball, ball, float_near, precision


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsampledLaw(Law):
    """`base` run on a sample in which each person is with probability `rate`, 0 < rate < 1.

    `replacing` False: Poisson sampling, add/remove. `replacing` True: without replacement, replace.
    """

    base: GaussianLaw
    rate: Fraction
    replacing: bool

    has_moments: ClassVar[bool] = True
    symmetric: ClassVar[bool] = False

    def pure(self) -> Ball:
        """Unbounded, as the base is."""
        return Ball.pos_inf()

    def zcdp(self) -> Bounds:
        """The base's ρ, which D_α/α approaches at large orders whatever the rate (subsampled.md); at least D_1."""
        return self.kl()[0], self.base.zcdp()[1]

    def kl(self) -> Bounds:
        """D_1 by certified quadrature; at most rate·D_1 of the base, by convexity."""
        low, high = kullback_leibler(self.base.mu2, self.rate, self.replacing)
        return low, high.min(ball(self.rate * self.base.mu2 / 2)) if not self.replacing else high

    def renyi(self, alpha: Fraction) -> Bounds:
        """D_α by a finite sum at whole orders of Poisson sampling, else by certified quadrature (subsampled.md)."""
        low, high = divergence(self.base.mu2, self.rate, self.replacing, alpha)
        return low, high.min(ball(self.base.renyi(alpha)[1]))

    def gdp(self) -> Fraction:
        """The base's μ²: less would mean a smaller ρ (subsampled.md)."""
        return self.base.gdp()

    def group(self, k: int) -> StatedLaw:
        """Only the base's ρ remains for several people at once."""
        return StatedLaw(epsilon=None, rho=self.base.mu2 / 2 * k * k)

    def family(self) -> Hashable:
        """Each sampled mechanism is its own."""
        return self

    def profile(self, terms: Terms) -> Profile | None:
        """Closed for one use."""
        return self if len(terms) == 1 and terms[0][1] == 1 else None

    def delta(self, epsilon: Ball) -> tuple[Ball, Ball]:
        """rate·δ_base(ln(1 + (e^ε − 1)/rate)), and for an added person (1 − γ(1−r))·δ_base(ln(γr/(1 − γ(1−r))))."""
        closed = self.base.profile([(self.base, 1)])
        with precision(256):
            rate, growth = ball(self.rate), epsilon.exp()
            removed = rate * closed.delta((1 + (growth - 1) / rate).log())[1]
            rest = 1 - growth * (1 - rate)
            if self.replacing or not rest > 0:
                return removed, removed
            added = rest * closed.delta((growth * rate / rest).log())[1]
            value = removed.max(added)
            return value, value

    @property
    def _line(self) -> Line:
        return Line(math.sqrt(float_near(self.base.mu2)), float_near(self.rate))

    @property
    def resolution(self) -> float:
        """Half of the loss lies within the rate of 0."""
        return float_near(self.rate)

    def span(self, cut: float) -> float:
        """From where no more than `cut` is below to where no more is above."""
        line = self._line
        return 2 * line.highest(cut) if self.replacing else line.highest(cut) - line.least(cut)

    def grid(self, view: View) -> Grid:
        """The law on a grid of spacing `view.mesh`, dominating or dominated, in one direction."""
        return grid(self._line, self.replacing, view)
