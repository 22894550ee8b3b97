"""Two people who answer by randomized response, and a prior under which they depend. Proofs: respondents.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from quincunx.errors import ParameterError
from quincunx.meaning.dependence.joint import Joint
from quincunx.numbers import Log, amount, probability


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Respondents:
    """X_1 and X_2 are two people's truths, bits; each tells theirs with probability p and the opposite otherwise.

    prior: θ, a Joint of two bits or {(a, b): θ_ab}, under which X_1 may be 0 and may be 1. probability: p, 0 < p < 1.
    T_1 and T_2 are the answers; e^ε = max(o, 1/o) with the odds o = p/(1 − p). All results are exact.
    """

    prior: Joint
    probability: Fraction

    def __init__(self, *, prior: Joint | Mapping[Any, object], probability: object) -> None:
        object.__setattr__(self, "prior", _two_bits(prior if isinstance(prior, Joint) else Joint(prior)))
        object.__setattr__(self, "probability", _inside(probability))

    @property
    def odds(self) -> Fraction:
        """o = p/(1 − p)."""
        return self.probability / (1 - self.probability)

    @property
    def epsilon(self) -> Log:
        """ε = |ln(p/(1 − p))|, what one answer costs."""
        return Log(max(self.odds, 1 / self.odds))

    @property
    def affirmative(self) -> int:
        """The answer that speaks for 1: 1 where p ≥ 1/2, otherwise 0."""
        return int(self.odds >= 1)

    def chance(self, first: int) -> Fraction:
        """π(X_2 = 1 | X_1 = first)."""
        one = self.prior.given({0: _bit(first, "first")})
        return one.law(1).get(1, Fraction(0))

    @property
    def covariance(self) -> Fraction:
        """Cov(X_1, X_2) = θ_11 − θ_1·θ_·1."""
        return self.prior.probability((1, 1)) - self._believed * self.prior.law(1).get(1, Fraction(0))

    def likelihood_ratio(self, first: int, second: int) -> Fraction:
        """LR(t_1, t_2) = P(T = t | X_1 = 1)/P(T = t | X_1 = 0)."""
        answers = _bit(first, "first"), _bit(second, "second")
        return self._likelihood(1, *answers) / self._likelihood(0, *answers)

    def posterior(self, first: int, second: int) -> Fraction:
        """π(X_1 = 1 | T = (first, second))."""
        return self._believed * self.posterior_ratio(first, second)

    def posterior_ratio(self, first: int, second: int) -> Fraction:
        """C = π(X_1 = 1 | T)/π(X_1 = 1) = LR/(LR·θ_1· + 1 − θ_1·)."""
        ratio, believed = self.likelihood_ratio(first, second), self._believed
        return ratio / (ratio * believed + 1 - believed)

    @property
    def together(self) -> Fraction:
        """LR of two answers that both speak for 1; e^{2ε} where the two people are alike."""
        return self.likelihood_ratio(self.affirmative, self.affirmative)

    @property
    def exceeds(self) -> bool:
        """Whether `together` > e^ε; for p ≠ 1/2 exactly when the covariance is positive."""
        return self.together > self.epsilon.of

    def words(self) -> str:
        """What two affirmative answers say about the first person, in words."""
        ratio, limit, covariance = self.together, self.epsilon.of, self.covariance
        compared = "more than" if ratio > limit else "less than" if ratio < limit else "exactly"
        afterwards = self.posterior(self.affirmative, self.affirmative)
        return (
            f"Both answer {'yes' if self.affirmative else 'no'}, which speaks for 1. Together the answers are "
            f"{amount(ratio)} times as likely if the first person is a 1 as if not, {compared} e^ε = {amount(limit)}. "
            f"{_why(covariance, informative=limit > 1)} A belief of {amount(self._believed)} that the first person is "
            f"a 1 becomes {amount(afterwards)}. Someone who already knows the second person's truth is moved by e^ε at "
            "most."
        )

    @property
    def _believed(self) -> Fraction:
        # θ_1· = π(X_1 = 1)
        return self.prior.law(0)[1]

    def _likelihood(self, truth: int, first: int, second: int) -> Fraction:
        # P(t_1 | X_1)·Σ_b π(X_2 = b | X_1)·P(t_2 | b): the coins are independent of each other and of the truths.
        p, chance = self.probability, self.chance(truth)
        told = p if first == truth else 1 - p
        return told * (chance * (p if second else 1 - p) + (1 - chance) * (1 - p if second else p))


def _why(covariance: Fraction, *, informative: bool) -> str:
    if not informative:
        return "Fair coins say nothing about anybody."
    if covariance == 0:
        return "The second answer adds nothing: under this prior the two people are uncorrelated."
    sign, side = ("positive", "for") if covariance > 0 else ("negative", "against")
    return f"The second answer speaks {side} it: under this prior the covariance of the two is {sign}."


def _two_bits(prior: Joint) -> Joint:
    if prior.records != 2 or not {*prior.values(0), *prior.values(1)} <= {0, 1}:
        hint = "For more people or other values use a finite mechanism: marginal(mechanism, joint)."
        raise ParameterError("expected a prior of two bits", where="prior", got=f"{prior.records} records", hint=hint)
    if len(prior.values(0)) < 2:
        hint = "A certainty does not move; give both values of the first a chance."
        raise ParameterError("the first person's truth must be uncertain", where="prior", hint=hint)
    return prior


def _inside(value: object) -> Fraction:
    p = probability(value, "probability")
    if p in (0, 1):
        hint = "The answer would be certain and its loss infinite."
        raise ParameterError("must be between 0 and 1, both excluded", where="probability", got=str(p), hint=hint)
    return p


def _bit(value: object, where: str) -> int:
    if isinstance(value, int) and value in (0, 1):
        return int(value)
    raise ParameterError("must be 0 or 1", where=where, got=repr(value)[:40])
