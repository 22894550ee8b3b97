"""Losses known by their parameters alone, and losses of which the largest counts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from quincunx.loss.law import Bounds, Law, Profile, Real, Terms
from quincunx.numbers import Ball, ball, float_above

if TYPE_CHECKING:
    from quincunx.loss.loss import Loss


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedLaw(Law):
    """A mechanism of which only this is known: it is ε-DP (`epsilon`, None if it is not) and ρ-zCDP (`rho`).

    Its group maps are kε and k²ρ, which hold for every mechanism. Several such mechanisms may be chosen adaptively.
    """

    epsilon: Fraction | None
    rho: Fraction

    def pure(self) -> Real:
        """ε, as stated."""
        return Ball.pos_inf() if self.epsilon is None else self.epsilon

    def zcdp(self) -> Bounds:
        """Somewhere from 0 to ρ."""
        return Fraction(0), self.rho

    def group(self, k: int) -> StatedLaw:
        """kε and k²ρ."""
        return StatedLaw(epsilon=None if self.epsilon is None else self.epsilon * k, rho=self.rho * k * k)

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

    alternatives: tuple[Loss, ...]

    def pure(self) -> Real:
        """The largest ε."""
        return _largest(loss.total_pure() for loss in self.alternatives)

    def zcdp(self) -> Bounds:
        """The largest ρ."""
        bounds = [loss.total_zcdp() for loss in self.alternatives]
        return _largest(low for low, _ in bounds), _largest(high for _, high in bounds)

    def group(self, k: int) -> StatedLaw:
        """A chain of k neighbours may take another alternative at each step: only the parameters remain."""
        epsilon = float_above(self.pure())
        return StatedLaw(
            epsilon=None if math.isinf(epsilon) else Fraction(epsilon) * k,
            rho=Fraction(float_above(self.zcdp()[1])) * k * k,
        )

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
            lower, upper = loss.delta_balls(epsilon)
            low, high = low.max(lower), high.max(upper)
        return low, high


def _largest(values: Iterable[Real]) -> Real:
    exact, rough = Fraction(0), Ball(0)
    for value in values:
        if isinstance(value, Fraction):
            exact = max(exact, value)
        else:
            rough = rough.max(value)
    return exact if rough <= ball(exact) else rough.max(ball(exact))
