"""The loss of mechanisms of bounded range, such as the exponential mechanism: the log-likelihood ratio of two
neighbours lies in an interval of length η that contains 0, and nothing is known of where.

For every place t of the interval [t − η, t] the worst pair has two atoms: the loss t with probability p_t and t − η
with 1 − p_t, p_t = (1 − e^{t−η})/(1 − e^{−η}). Each answer below is the largest over t, in closed form.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from quincunx.loss.law import Bounds, Law, Profile, Terms
from quincunx.numbers import Ball, ball, normal_quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedRangeLaw(Law):
    """max_o ln(P(o)/Q(o)) − min_o ln(P(o)/Q(o)) ≤ `eta` > 0 for every two neighbours, and no more is known.

    For weights e^{c·score} of scores that move by at most Δ, η = 2cΔ; η = cΔ where all scores move the same way.
    Compositions are answered through ε, ρ and μ: an adaptive adversary may choose t anew after each answer.
    """

    eta: Fraction

    def pure(self) -> Fraction:
        """η: an interval of length η around 0 reaches no farther."""
        return self.eta

    def zcdp(self) -> Bounds:
        """At most η²/8 (Cesar and Rogers 2021) and at most η, as every η-DP pair; at least D_1."""
        return self.kl()[0], min(self.eta**2 / 8, self.eta)

    def kl(self) -> Bounds:
        """t − η(e^t − 1)/(e^η − 1) at its largest, where e^t = (e^η − 1)/η."""
        eta = ball(self.eta)
        # With 1 − e^{−η}, so that a large η does not overflow.
        shrunk = -(-eta).expm1()
        value = eta + (shrunk / eta).log() - 1 + eta * (-eta).exp() / shrunk
        return value, value

    def renyi(self, alpha: Fraction) -> Bounds:
        """ln[A·u^{α−1} − B·u^α]/(α−1) − ln(1 − e^{−η})/(α−1), u = e^t at its best (bounded_range.md)."""
        order, eta = ball(alpha), ball(self.eta)
        # A = 1 − e^{−αη} and B·e^η = 1 − e^{−(α−1)η}, both without cancellation.
        a, b = -(-order * eta).expm1(), -(-(order - 1) * eta).expm1()
        best = eta + ((order - 1) * a / (order * b)).log()
        value = best + (a / (order * -(-eta).expm1())).log() / (order - 1)
        return value, value

    def gdp(self) -> Ball:
        """μ = 2Φ⁻¹(e^{η/2}/(1 + e^{η/2})), at the place t = η/2: half of what an ε-DP pair has (bounded_range.md)."""
        return 4 * normal_quantile(1 / (1 + (ball(self.eta) / 2).exp())) ** 2

    def group(self, k: int) -> BoundedRangeLaw:
        """kη: along a chain of k neighbours the ranges add."""
        return BoundedRangeLaw(eta=self.eta * k)

    def family(self) -> Hashable:
        """Bounded ranges compare with each other; only one alone has a closed δ(ε)."""
        return "bounded range"

    def profile(self, terms: Terms) -> Profile | None:
        """Closed for one law, once."""
        return _BoundedRangeProfile(self.eta) if len(terms) == 1 and terms[0][1] == 1 else None

    def covers(self, mine: Terms, theirs: Terms) -> bool:
        """A longer range covers a shorter one; ranges do not add under adaptive composition (bounded_range.md)."""
        if len(mine) == len(theirs) == 1 and mine[0][1] == theirs[0][1] == 1:
            return self.eta >= cast(BoundedRangeLaw, theirs[0][0]).eta
        return mine == theirs


@dataclass(frozen=True, slots=True)
class _BoundedRangeProfile:
    eta: Fraction

    def delta(self, epsilon: Ball) -> tuple[Ball, Ball]:
        # (1 − e^{t−η})(1 − e^{ε−t})/(1 − e^{−η}) is largest at t = (ε + η)/2; beyond ε = η it is 0.
        eta = ball(self.eta)
        gap = (-((epsilon - eta) / 2).expm1()).max(Ball(0))
        value = gap**2 / -(-eta).expm1()
        return value, value
