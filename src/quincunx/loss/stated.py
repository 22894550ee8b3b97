"""Losses known by their parameters alone, and losses of which the largest counts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from quincunx.errors import PrivacyError
from quincunx.loss.law import Bounds, Composition, Law, Profile, Real, Terms, kl_of, renyi_of, total, total_of
from quincunx.numbers import Ball, ball, float_above, precision


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedLaw(Law):
    """A mechanism of which only this is known: it is ε-DP (`epsilon`, None if it is not) and ρ-zCDP (`rho`).

    With `delta` > 0 both hold only outside an event of probability δ: it is (ε, δ)-DP and δ-approximately ρ-zCDP. Its
    group maps hold for every mechanism: kε, k²ρ, and δ(e^{kε} − 1)/(e^ε − 1). Several such mechanisms may be chosen
    adaptively.
    """

    epsilon: Fraction | None
    rho: Fraction
    delta: Fraction = Fraction(0)

    @property
    def stated_delta(self) -> Fraction:
        """δ, as stated."""
        return self.delta

    def pure(self) -> Real:
        """ε, as stated."""
        return Ball.pos_inf() if self.epsilon is None else self.epsilon

    def zcdp(self) -> Bounds:
        """Somewhere from 0 to ρ."""
        return Fraction(0), self.rho

    def kl(self) -> Bounds:
        """At most ρ."""
        return Fraction(0), self.rho

    def renyi(self, alpha: Fraction) -> Bounds:
        """At most α·ρ, and at most ε."""
        return Fraction(0), alpha * self.rho if self.epsilon is None else min(alpha * self.rho, self.epsilon)

    def group(self, k: int) -> StatedLaw:
        """kε and k²ρ; with δ > 0 the group map of (ε, δ), and kε·tanh(kε/2) for ρ."""
        if self.delta == 0:
            return StatedLaw(epsilon=None if self.epsilon is None else self.epsilon * k, rho=self.rho * k * k)
        if self.epsilon is None:
            hint = "Calibrate for the larger group instead."
            raise PrivacyError("approximate zCDP has no group map", where="group", got=f"k = {k}", hint=hint)
        with precision(256):
            one, all_ = ball(self.epsilon), ball(self.epsilon * k)
            # δ(1 + e^ε + … + e^{(k−1)ε}), which is kδ at ε = 0.
            delta = float_above(ball(self.delta) * (all_.expm1() / one.expm1() if self.epsilon else Ball(k)))
            rho = float_above(all_ * (all_ / 2).tanh())
            if not delta < 1:
                raise PrivacyError("nothing is left of the guarantee for so many", where="group", got=f"k = {k}")
            return StatedLaw(epsilon=self.epsilon * k, rho=Fraction(rho), delta=Fraction(delta))

    def family(self) -> Hashable:
        """Nothing is known of the law itself."""
        return self

    def profile(self, terms: Terms) -> Profile | None:  # noqa: ARG002
        """None: δ(ε) follows from the parameters."""
        return None


@dataclass(frozen=True, slots=True)
class Largest(Law):
    """One of several losses; which one depends on the neighbour. δ(ε) is the largest of theirs.

    Where it is composed with other losses, only its parameters are used: an adaptive partition may choose another
    alternative after each answer, so the composition is not the largest of the compositions.
    """

    alternatives: tuple[Composition, ...]

    def pure(self) -> Real:
        """The largest ε."""
        return _largest(loss.total_pure() for loss in self.alternatives)

    def zcdp(self) -> Bounds:
        """The largest ρ."""
        return _largest_bounds(loss.total_zcdp() for loss in self.alternatives)

    def kl(self) -> Bounds:
        """The largest D_1."""
        return _largest_bounds(total_of(loss.terms, kl_of) for loss in self.alternatives)

    def renyi(self, alpha: Fraction) -> Bounds:
        """The largest D_α."""
        return _largest_bounds(total_of(loss.terms, lambda law: renyi_of(law, alpha)) for loss in self.alternatives)

    def gdp(self) -> Real:
        """The largest μ²: each alternative is μ-GDP."""
        return _largest(total(law.gdp() * count for law, count in loss.terms) for loss in self.alternatives)

    def group(self, k: int) -> StatedLaw:
        """A chain of k neighbours may take another alternative at each step: only the parameters remain."""
        epsilon = float_above(self.pure())
        one = StatedLaw(
            epsilon=None if math.isinf(epsilon) else Fraction(epsilon),
            rho=Fraction(float_above(self.zcdp()[1])),
            delta=self.stated_delta,
        )
        return one.group(k)

    @property
    def stated_delta(self) -> Fraction:
        """The largest stated δ."""
        return max(loss.stated_delta() for loss in self.alternatives)

    def family(self) -> Hashable:
        """Each choice is its own."""
        return self

    def profile(self, terms: Terms) -> Profile | None:
        """The largest δ of the alternatives, for one use."""
        return self if len(terms) == 1 and terms[0][1] == 1 else None

    def delta(self, epsilon: Ball) -> tuple[Ball, Ball]:
        """The largest δ(ε) of the alternatives."""
        low, high = Ball(0), Ball(0)
        for loss in self.alternatives:
            lower, upper = loss.curve().delta(epsilon)
            low, high = low.max(lower), high.max(upper)
        return low, high


def _largest_bounds(bounds: Iterable[Bounds]) -> Bounds:
    pairs = list(bounds)
    return _largest(low for low, _ in pairs), _largest(high for _, high in pairs)


def _largest(values: Iterable[Real]) -> Real:
    exact, rough = Fraction(0), Ball(0)
    for value in values:
        if isinstance(value, Fraction):
            exact = max(exact, value)
        else:
            rough = rough.max(value)
    return exact if rough <= ball(exact) else rough.max(ball(exact))
