"""The loss of continuous Laplace noise: density e^{−|x|}/2 against its shift by ε."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from quincunx.loss.law import Bounds, Law, Profile, Terms
from quincunx.numbers import Ball, ball


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceLaw(Law):
    """Lap(0, 1) against Lap(ε, 1), `epsilon` = Δ/b > 0 for ℓ1 distance Δ and noise of scale b in every coordinate.

    One coordinate that moves by Δ dominates any vector of ℓ1 length Δ (laplace.md).
    """

    epsilon: Fraction

    def pure(self) -> Fraction:
        """ε."""
        return self.epsilon

    def zcdp(self) -> Bounds:
        """ε + e^{−ε} − 1, the limit of D_α/α at α = 1, where it is largest (laplace.md)."""
        rho = ball(self.epsilon) + (-ball(self.epsilon)).expm1()
        return rho, rho

    def group(self, k: int) -> LaplaceLaw:
        """k·ε: a shift k times as long."""
        return LaplaceLaw(epsilon=self.epsilon * k)

    def family(self) -> Hashable:
        """Laplace laws compare with each other; only one alone has a closed δ(ε) here."""
        return "laplace"

    def profile(self, terms: Terms) -> Profile | None:
        """Closed for one law, once."""
        return _LaplaceProfile(self.epsilon) if len(terms) == 1 and terms[0][1] == 1 else None

    def covers(self, mine: Terms, theirs: Terms) -> bool:
        """One law covers every composition whose ε add up to no more (laplace.md)."""
        if len(mine) == 1 and mine[0][1] == 1:
            return self.epsilon >= sum(cast(LaplaceLaw, law).epsilon * count for law, count in theirs)
        return mine == theirs


@dataclass(frozen=True, slots=True)
class _LaplaceProfile:
    epsilon: Fraction

    def delta(self, epsilon: Ball) -> tuple[Ball, Ball]:
        # δ(s) = 1 − e^{(s−ε)/2} for 0 ≤ s ≤ ε and 0 beyond; the maximum with 0 joins both.
        value = (-((epsilon - ball(self.epsilon)) / 2).expm1()).max(Ball(0))
        return value, value
