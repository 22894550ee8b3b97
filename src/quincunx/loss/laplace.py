"""The loss of continuous Laplace noise: density e^{−|x|}/2 against its shift by ε."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from quincunx.loss.law import Bounds, Law, Moments, Profile, Terms, log_with_error
from quincunx.numbers import Ball, ball, float_near


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

    def kl(self) -> Bounds:
        """ε + e^{−ε} − 1."""
        return self.zcdp()

    def renyi(self, alpha: Fraction) -> Bounds:
        """ln[α/(2α−1)·e^{(α−1)ε} + (α−1)/(2α−1)·e^{−αε}]/(α−1) (Mironov 2017, Proposition 6)."""
        a, e = ball(alpha), ball(self.epsilon)
        # Divided by e^{(α−1)ε}, so that nothing overflows.
        inside = (a + (a - 1) * (-(2 * a - 1) * e).exp()) / (2 * a - 1)
        value = e + inside.log() / (a - 1)
        return value, value

    def group(self, k: int) -> LaplaceLaw:
        """k·ε: a shift k times as long."""
        return LaplaceLaw(epsilon=self.epsilon * k)

    def family(self) -> Hashable:
        """Laplace laws compare with each other; only one alone has a closed δ(ε) here."""
        return "laplace"

    def profile(self, terms: Terms) -> Profile | None:
        """Closed for one law, once."""
        return _LaplaceProfile(self.epsilon) if len(terms) == 1 and terms[0][1] == 1 else None

    has_moments: ClassVar[bool] = True

    def log_moment(self, s: NDArray[np.complex128]) -> Moments:
        """sε + ln A, A = (1 + w)/2 + (1 − w)/(2(2s + 1)) with w = e^{−(2s+1)ε}: the two atoms and what lies between."""
        epsilon = float_near(self.epsilon)
        doubled = 2 * s + 1
        w = np.exp(-doubled * epsilon)
        inside = (1 + w) / 2 + (1 - w) / (2 * doubled)
        # |w| < 1 and |2s + 1| > 1, so all parts are at most 1; w is off by its exponent's rounding.
        off = 2.0**-53 * (np.abs(w) * (4 * np.abs(doubled) * epsilon + 8) + 16)
        return log_with_error(s * epsilon, inside, off, 3 * 2.0**-53 * np.abs(s * epsilon))

    def log_decay(self, sigma: float, omega: float) -> float:
        """The atoms stay; what lies between falls like 1/ω."""
        w = math.exp(-(2 * sigma + 1) * float_near(self.epsilon))
        top = (1 + w) / 2 + (1 + w) / (4 * omega)
        return min(0.0, math.log(top / ((1 + w) / 2 + (1 - w) / (2 * (2 * sigma + 1)))) + 1e-12)

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
