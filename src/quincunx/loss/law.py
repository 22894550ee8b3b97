"""What one law of privacy loss must answer.

A law is a pair (P, Q) that dominates the outputs of a mechanism on every two inputs at distance 1, in both directions.
It answers at count 1; repetition is applied in `loss.py` and nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Protocol, TypeAlias

from quincunx.numbers import Ball

# Exact where it is rational, so that equal budgets compare equal.
Real: TypeAlias = Fraction | Ball
# A lower and an upper bound: the lower end of the first and the upper end of the second are certain.
Bounds: TypeAlias = tuple[Real, Real]


class Profile(Protocol):
    """δ as a function of ε for a fixed composition."""

    def delta(self, epsilon: Ball) -> tuple[Ball, Ball]:
        """Certified bounds on the smallest δ at ε ≥ 0."""
        ...


class Law(ABC):
    """A dominating pair: an immutable, hashable value."""

    @abstractmethod
    def pure(self) -> Real:
        """The largest absolute log-likelihood ratio; +∞ where it is unbounded."""

    @abstractmethod
    def zcdp(self) -> Bounds:
        """Certified bounds on the smallest ρ with D_α ≤ ρ·α for every order α > 1.

        The lower bound is at most D_1, the divergence of Kullback and Leibler, which adds under composition.
        """

    @abstractmethod
    def group(self, k: int) -> Law:
        """The law at distance k."""

    @abstractmethod
    def family(self) -> Hashable:
        """Laws of one family compose together in `profile` and compare in `covers`."""

    @abstractmethod
    def profile(self, terms: Terms) -> Profile | None:
        """δ(ε) of the composition of `terms`, all of this family; None where no closed form or finite sum is kept."""

    def covers(self, mine: Terms, theirs: Terms) -> bool:
        """Whether the composition of `mine` certainly dominates that of `theirs`, both of this family."""
        return mine == theirs


Terms: TypeAlias = Sequence[tuple[Law, int]]
