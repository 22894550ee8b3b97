"""What one law of privacy loss must answer.

A law is a pair (P, Q) that dominates the outputs of a mechanism on every two inputs at distance 1, in both directions.
It answers at count 1; repetition is applied in `loss.py` and nowhere else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.loss.grid import Grid
from quincunx.numbers import Ball, ball, normal_quantile

# Exact where it is rational, so that equal budgets compare equal.
Real: TypeAlias = Fraction | Ball
# A lower and an upper bound: the lower end of the first and the upper end of the second are certain.
Bounds: TypeAlias = tuple[Real, Real]


Moments: TypeAlias = tuple[NDArray[np.complex128], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class View:
    """Which grid is asked of a law that is not closed: of Q against P (`backwards`), dominated instead of dominating
    (`below`), of spacing `mesh`, a power of 2; 0 where all laws are closed. It ends where `cut` is left."""

    backwards: bool = False
    below: bool = False
    mesh: float = 0.0
    cut: float = 1e-26


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
    def kl(self) -> Bounds:
        """Certified bounds on D_1, the larger of both directions."""

    @abstractmethod
    def renyi(self, alpha: Fraction) -> Bounds:
        """Certified bounds on D_α at a fixed order α > 1, the larger of both directions."""

    def gdp(self) -> Real:
        """μ² for which the law is μ-GDP; by default that of any ε-DP pair, +∞ where ε is unbounded.

        Randomized response dominates every ε-DP pair, and G_μ is below its trade-off curve at the one inner vertex iff
        μ ≥ 2Φ⁻¹(e^ε/(1 + e^ε)) (Dong, Roth and Su 2022).
        """
        pure = self.pure()
        epsilon = ball(pure) if isinstance(pure, Fraction) else pure
        if not epsilon.is_finite():
            return Ball.pos_inf()
        return 4 * normal_quantile(1 / (1 + epsilon.exp())) ** 2

    @property
    def stated_delta(self) -> Fraction:
        """The δ outside which the other answers hold, where a law is only approximately private; 0 elsewhere."""
        return Fraction(0)

    @abstractmethod
    def group(self, k: int) -> Law:
        """The law at distance k."""

    @abstractmethod
    def family(self) -> Hashable:
        """Laws of one family compose together in `profile` and compare in `covers`."""

    @abstractmethod
    def profile(self, terms: Terms) -> Profile | None:
        """δ(ε) of the composition of `terms`, all of this family; None where no closed form or finite sum is kept."""

    # Whether E[e^{sL}] is known, by `log_moment` or on a `grid`; the numerical inversion needs it of every law.
    has_moments: ClassVar[bool] = False

    # Whether P against Q and Q against P are the same; where not, both are composed and the larger counts.
    symmetric: ClassVar[bool] = True

    def log_moment(self, s: NDArray[np.complex128]) -> Moments:
        """ln E[e^{sL}] at complex s with Re s > 0, up to multiples of 2πi, and a bound on its absolute error.

        L is the loss of P against Q under P. Laws that are not closed have a grid instead.
        """
        raise NotImplementedError

    def grid(self, view: View) -> Grid | None:  # noqa: ARG002
        """The law on a grid, for laws whose moments are not closed; None for those whose moments are."""
        return None

    def span(self, cut: float) -> float:  # noqa: ARG002
        """How long a grid of this law is that ends at `cut`; 0 for closed laws, which need none."""
        return 0.0

    @property
    def resolution(self) -> float:
        """The loss below which a grid no longer sees this law's shape."""
        return 1.0

    def log_decay(self, sigma: float, omega: float) -> float:  # noqa: ARG002
        """A bound, at most 0, on ln |E[e^{(σ+iw)L}]|/E[e^{σL}] for every w ≥ omega."""
        return 0.0

    def merged(self, terms: Terms) -> Terms:
        """The composition of `terms`, all of this family, with fewer terms where that is closed."""
        return terms

    def covers(self, mine: Terms, theirs: Terms) -> bool:
        """Whether the composition of `mine` certainly dominates that of `theirs`, both of this family."""
        return mine == theirs


Terms: TypeAlias = Sequence[tuple[Law, int]]


class Composition(Protocol):
    """What laws, budgets and files ask of a loss, which is made of laws."""

    @property
    def terms(self) -> tuple[tuple[Law, int], ...]:
        """Each law and how often it is used."""
        ...

    def total_pure(self) -> Real:
        """The total ε."""
        ...

    def total_zcdp(self) -> Bounds:
        """Bounds on the total ρ."""
        ...

    def total_gdp(self) -> Real:
        """The total μ²."""
        ...

    def stated_delta(self) -> Fraction:
        """The total δ of parts that are only approximately private."""
        ...

    def curve(self) -> Profile:
        """δ(ε) of the composition."""
        ...


def log_with_error(
    shift: NDArray[np.complex128],
    inside: NDArray[np.complex128],
    off: NDArray[np.float64],
    rounding: NDArray[np.float64],
) -> Moments:
    """shift + ln(inside), where `inside` is off by at most `off` and `shift` by `rounding`.

    Where `inside` may be 0 nothing is known of its argument: the value is then its largest size, and the error covers
    every complex number of that size.
    """
    size = np.abs(inside)
    clear = size > 4 * off
    value = np.where(clear, np.log(np.where(clear, inside, 1)), np.log(size + off))
    # |ln(1 + z)| ≤ 1.16·|z| for |z| ≤ 1/4; a number of size at most M is within 2M of M, and e^1.2 > 3.
    error = np.where(clear, 1.16 * off / np.where(clear, size, 1) + 4 * 2.0**-53 * np.abs(value), 1.2)
    return shift + value, error + rounding


def as_ball(value: Real) -> Ball:
    """A ball around an exact or certified number."""
    return ball(value) if isinstance(value, Fraction) else value


def total(values: Iterable[Real]) -> Real:
    """The sum: exact where all of it is rational."""
    exact, rough = Fraction(0), None
    for value in values:
        if isinstance(value, Fraction):
            exact += value
        else:
            rough = value if rough is None else rough + value
    return exact if rough is None else ball(exact) + rough


def least(first: Real, *others: Real) -> Real:
    """The least of several numbers: the exact one where it certainly is."""
    found = first
    for other in others:
        if isinstance(found, Fraction) and isinstance(other, Fraction):
            found = min(found, other)
        elif not as_ball(found) <= as_ball(other):
            found = other if as_ball(other) <= as_ball(found) else as_ball(found).min(as_ball(other))
    return found


def renyi_of(law: Law, alpha: Fraction) -> Bounds:
    """The best of what is known of D_α: it lies between D_1 and the least of its own bound, α·ρ and ε."""
    low, high = law.renyi(alpha)
    rho = law.zcdp()[1]
    return low, least(high, rho * alpha if isinstance(rho, Fraction) else rho * ball(alpha), law.pure())


def kl_of(law: Law) -> Bounds:
    """The best of what is known of D_1, which is at most ρ."""
    low, high = law.kl()
    return low, least(high, law.zcdp()[1])


def total_of(terms: Terms, question: Callable[[Law], Bounds]) -> Bounds:
    """The sums of the lower and of the upper bounds that each law gives, each as often as it is used."""
    answers = [(question(law), count) for law, count in terms]
    return total(low * count for (low, _), count in answers), total(high * count for (_, high), count in answers)
