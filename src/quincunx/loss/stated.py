"""Losses known by their parameters alone, and losses of which the largest counts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from quincunx.loss.law import Bounds, Law, Profile, Terms
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

    def pure(self) -> Ball:
        """ε, as stated."""
        return Ball.pos_inf() if self.epsilon is None else ball(self.epsilon)

    def zcdp(self) -> Bounds:
        """Somewhere from 0 to ρ."""
        return Ball(0), ball(self.rho)

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

    def pure(self) -> Ball:
        """The largest ε."""
        return _largest((loss.pure_ball(), Ball(0)) for loss in self.alternatives)[0]

    def zcdp(self) -> Bounds:
        """The largest ρ."""
        return _largest(loss.zcdp_balls() for loss in self.alternatives)

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

    def delta(self, epsilon: Ball) -> Bounds:
        """The largest δ(ε) of the alternatives."""
        return _largest(loss.delta_balls(epsilon) for loss in self.alternatives)


def _largest(values: Iterable[Bounds]) -> Bounds:
    low, high = Ball(0), Ball(0)
    for lower, upper in values:
        low, high = low.max(lower), high.max(upper)
    return low, high
