"""A guarantee to meet, as a value: one parameter of a loss and the largest that it may be.

Whether a loss meets it is decided between rationals, or in balls where a comparison is true only if it is certain.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, TypedDict

from quincunx.errors import ParameterError
from quincunx.loss import Loss, Real, total_of
from quincunx.numbers import Number, amount, ball, delta_parameter, non_negative, precision, rational

PRECISION: Final = 256


class Goal(ABC):
    """A guarantee to meet: the certified upper end of one parameter of a loss, at most `limit`."""

    __slots__ = ()
    # What to ask for instead where no noise of a family is enough.
    instead: ClassVar[str] = ""

    @property
    def outside(self) -> Fraction:
        """The largest probability of an event outside which alone the loss may hold."""
        return Fraction(0)

    @property
    @abstractmethod
    def limit(self) -> Fraction:
        """The largest parameter that meets the goal."""

    @abstractmethod
    def parameter(self, loss: Loss) -> Real:
        """The parameter of a loss, exact or a ball whose upper end is certain; infinite where there is none."""

    def met(self, loss: Loss) -> bool:
        """Whether the loss certainly meets the goal."""
        if loss.stated_delta() > self.outside:
            return False
        with precision(PRECISION):
            value = self.parameter(loss)
            return value <= self.limit if isinstance(value, Fraction) else bool(value <= ball(self.limit))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pure(Goal):
    epsilon: Fraction
    instead: ClassVar[str] = "Give delta > 0, or calibrate Laplace or DiscreteLaplace."

    @property
    def limit(self) -> Fraction:
        return self.epsilon

    def parameter(self, loss: Loss) -> Real:
        return loss.total_pure()

    def __str__(self) -> str:
        return f"ε = {amount(self.epsilon)} at δ = 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Approximate(Goal):
    epsilon: Fraction
    delta: Fraction

    @property
    def outside(self) -> Fraction:
        return self.delta

    @property
    def limit(self) -> Fraction:
        return self.delta

    def parameter(self, loss: Loss) -> Real:
        pure = loss.total_pure()
        # Within ε nothing is left but what was stated: δ is exact there.
        if isinstance(pure, Fraction) and pure <= self.epsilon:
            return loss.stated_delta()
        return loss.curve().delta(ball(self.epsilon))[1]

    def __str__(self) -> str:
        return f"ε = {amount(self.epsilon)} at δ = {amount(self.delta)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Concentrated(Goal):
    rho: Fraction
    delta: Fraction = Fraction(0)

    @property
    def outside(self) -> Fraction:
        return self.delta

    @property
    def limit(self) -> Fraction:
        return self.rho

    def parameter(self, loss: Loss) -> Real:
        return loss.total_zcdp()[1]

    def __str__(self) -> str:
        return f"ρ = {amount(self.rho)}" + (f" at δ = {amount(self.delta)}" if self.delta else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gaussian(Goal):
    mu: Fraction
    instead: ClassVar[str] = "Give rho, or epsilon with delta; or calibrate Gaussian."

    @property
    def limit(self) -> Fraction:
        return self.mu**2

    def parameter(self, loss: Loss) -> Real:
        return loss.total_gdp()

    def __str__(self) -> str:
        return f"μ = {amount(self.mu)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Renyi(Goal):
    alpha: Fraction
    epsilon: Fraction

    @property
    def limit(self) -> Fraction:
        return self.epsilon

    def parameter(self, loss: Loss) -> Real:
        return total_of(loss.terms, lambda law: law.renyi(self.alpha))[1]

    def __str__(self) -> str:
        return f"ε = {amount(self.epsilon)} at order α = {amount(self.alpha)}"


_FORMS: Final = "Give epsilon (and delta), rho, mu, or alpha with epsilon."


class Guarantee(TypedDict, total=False):
    """The parameters of `goal`, for what passes them on."""

    epsilon: Number | None
    delta: Number | None
    rho: Number | None
    mu: Number | None
    alpha: Number | None


def goal(
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    mu: Number | None = None,
    alpha: Number | None = None,
) -> Goal:
    """The guarantee that these parameters state: exactly one of five forms.

    epsilon: D_∞ ≤ ε. epsilon, delta: P(S) ≤ e^ε·P'(S) + δ. rho: D_α ≤ ρ·α for every α > 1. mu: at least as hard to
    tell as N(0, 1) from N(μ, 1). alpha, epsilon: D_α ≤ ε at the one order α.
    """
    values = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu, "alpha": alpha}
    given = {name for name, value in values.items() if value is not None}
    if given == {"rho"}:
        return _Concentrated(rho=_more_than_nothing(rho, "rho"))
    if given == {"mu"}:
        return _Gaussian(mu=_more_than_nothing(mu, "mu"))
    if given == {"alpha", "epsilon"}:
        order = rational(alpha, "alpha")
        if order <= 1:
            raise ParameterError("must be greater than 1", where="alpha", got=str(order)[:40])
        return _Renyi(alpha=order, epsilon=_more_than_nothing(epsilon, "epsilon"))
    if given not in ({"epsilon"}, {"epsilon", "delta"}):
        got = ", ".join(name for name in values if name in given) or "none"
        raise ParameterError("state one guarantee to meet", where="calibrate", got=got, hint=_FORMS)
    share = delta_parameter(0 if delta is None else delta)
    if share == 0:
        return _Pure(epsilon=_more_than_nothing(epsilon, "epsilon"))
    return _Approximate(epsilon=non_negative(epsilon, "epsilon"), delta=share)


def goal_outside(delta: Fraction, *, epsilon: Number | None = None, rho: Number | None = None) -> Goal:
    """What a mechanism can meet that always needs `delta` = δ > 0: one of two forms.

    epsilon: P(S) ≤ e^ε·P'(S) + δ. rho: P = (1 − δ)P₁ + δP₂ and P' = (1 − δ)P₁' + δP₂' with D_α(P₁, P₁') ≤ ρ·α for every
    α > 1, in both directions.
    """
    if (epsilon is None) == (rho is None):
        got = "neither" if epsilon is None else "both"
        what, hint = "state one guarantee to meet", "Give delta with epsilon, or delta with rho."
        raise ParameterError(what, where="calibrate", got=got, hint=hint)
    if rho is None:
        return _Approximate(epsilon=_more_than_nothing(epsilon, "epsilon"), delta=delta)
    return _Concentrated(rho=_more_than_nothing(rho, "rho"), delta=delta)


def _more_than_nothing(value: object, name: str) -> Fraction:
    number = non_negative(value, name)
    if number == 0:
        hint = "At 0 the answer may not depend on the data at all: no noise is enough."
        raise ParameterError("must be greater than 0", where=name, got="0", hint=hint)
    return number
