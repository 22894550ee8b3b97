"""Upper bounds on δ(ε) from parameters that add up: ε, ρ, μ², D_1 and D_α. Every one is valid, and the least is taken.

They hold for every mechanism with those parameters, chosen adaptively, so they are what remains where the law itself is
not known, or where what is computed from it ends above the δ that is asked for. See ceiling.md.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from quincunx.loss.convert import delta_from_kl, delta_from_pure, delta_from_renyi, delta_from_zcdp
from quincunx.loss.gaussian import GaussianLaw
from quincunx.loss.law import Law, Real, Terms, as_ball, kl_of, renyi_of, total, total_of
from quincunx.numbers import Ball, exact_fraction, float_near

# Orders below 2 that are tried beside the whole ones: large losses have their best order there.
_FRACTIONAL: Final = tuple(Fraction(k, 16) for k in (17, 18, 20, 24, 28))
_LARGEST_ORDER: Final = 4096
# Beyond, nothing is protected, and rationals above balls would be long.
_LARGEST_MU2: Final = 2**40


class Ceiling:
    """What the parameters of `terms` say about δ(ε). `quick` is cheap; `thorough` also searches for an order."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self.pure = as_ball(total(law.pure() * count for law, count in terms))
        self.zcdp = as_ball(total_of(terms, lambda law: law.zcdp())[1])
        self._divergences: dict[Fraction, Ball] = {}
        self._gaussian: GaussianLaw | None = None
        self._kl: Ball | None = None

    def quick(self, epsilon: Ball) -> Ball:
        """From ε and ρ."""
        return delta_from_pure(self.pure, epsilon).min(delta_from_zcdp(self.zcdp, epsilon))

    def thorough(self, epsilon: Ball) -> Ball:
        """From all parameters, D_α at the best whole order."""
        if self._kl is None:
            self._kl = as_ball(total(_cheap_kl(law) * count for law, count in self._terms))
        found = self.quick(epsilon).min(self._as_gaussian(epsilon)).min(delta_from_kl(self._kl))
        return found.min(self._by_orders(epsilon))

    def _as_gaussian(self, epsilon: Ball) -> Ball:
        if self._gaussian is None:
            mu2 = as_ball(total(law.gdp() * count for law, count in self._terms))
            if not 0 < mu2 < _LARGEST_MU2:
                return Ball(1)
            self._gaussian = GaussianLaw(mu2=exact_fraction(mu2.upper()))
        return self._gaussian.profile([(self._gaussian, 1)]).delta(epsilon)[1].max(Ball(0))

    def _by_orders(self, epsilon: Ball) -> Ball:
        """The least over orders. The logarithm of the bound is convex in the order, so whole ones are searched."""
        found = Ball(1)
        for order in _FRACTIONAL:
            found = found.min(self._at(order, epsilon))
        low, high = 2, 4
        while high < _LARGEST_ORDER and self._height(high, epsilon) < self._height(high // 2, epsilon):
            low, high = high // 2, 2 * high
        while high - low > 2:
            middle = (low + high) // 2
            falls = self._height(middle + 1, epsilon) < self._height(middle, epsilon)
            low, high = (middle, high) if falls else (low, middle + 1)
        for whole in range(low, high + 1):
            found = found.min(self._at(Fraction(whole), epsilon))
        return found

    def _height(self, order: int, epsilon: Ball) -> float:
        # The sign of ln δ steers: a poor order only loosens the bound.
        value = self._at(Fraction(order), epsilon)
        return float_near(value.log()) if value > 0 else 0.0

    def _at(self, order: Fraction, epsilon: Ball) -> Ball:
        if order not in self._divergences:
            self._divergences[order] = as_ball(total_of(self._terms, lambda law: renyi_of(law, order))[1])
        return delta_from_renyi(order, self._divergences[order], epsilon)


def _sampled(law: Law) -> bool:
    return law.span(0.5) > 0


def _cheap_kl(law: Law) -> Real:
    # D_1 is at most ρ; of sampled laws it takes a quadrature.
    return law.zcdp()[1] if _sampled(law) else kl_of(law)[1]
