"""The loss of several choices at once, each of bounded range: what is known of all of them is the sum of the squares of
their ranges. Quantiles of several groups, whose people are bounded in norm 2, are chosen so. See ranges.md.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction

from quincunx.loss.law import Bounds, Law, Profile, Terms
from quincunx.numbers import Ball, ball


@dataclass(frozen=True, slots=True, kw_only=True)
class RangesLaw(Law):
    """Independent choices whose log-likelihood ratios lie in intervals of lengths η_1, η_2, … around 0, Σ η_i² ≤
    `square`, for every two neighbours; how many there are is not known, so no ε is. Several may be chosen adaptively.
    """

    square: Fraction

    def pure(self) -> Ball:
        """Not bounded: the ranges themselves may add up to anything."""
        return Ball.pos_inf()

    def zcdp(self) -> Bounds:
        """At most Σ η_i²/8."""
        return Fraction(0), self.square / 8

    def kl(self) -> Bounds:
        """At most ρ."""
        return Fraction(0), self.square / 8

    def renyi(self, alpha: Fraction) -> Bounds:
        """At most α·ρ."""
        return Fraction(0), alpha * self.square / 8

    def gdp(self) -> Ball:
        """π·Σ η_i²/8: each choice is μ-GDP with μ ≤ √(π/8)·η (bounded_range.md)."""
        return Ball.pi() * ball(self.square / 8)

    def group(self, k: int) -> RangesLaw:
        """Every range is k times as long."""
        return RangesLaw(square=self.square * k * k)

    def family(self) -> Hashable:
        """Nothing is known of the law itself."""
        return self

    def profile(self, terms: Terms) -> Profile | None:  # noqa: ARG002
        """None: δ(ε) follows from the parameters."""
        return None
