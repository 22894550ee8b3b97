"""Binary randomized response."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quincunx import noise
from quincunx.errors import ParameterError
from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.loss import LatticeLaw, Loss
from quincunx.mechanisms.additive import lattice_values
from quincunx.numbers import Log, ball, float_above, float_below, float_near, positive_integer, precision, probability


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An unbiased estimate of the share of ones among the respondents, and an interval that covers it.

    `value` and `variance` are exact, given the respondents' true answers: sampling error is not included. `value` may
    lie outside [0, 1]. `low` and `high` enclose the true share with probability at least 1 − beta.
    """

    value: Fraction
    variance: Fraction
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class RandomizedResponse:
    """Each respondent tells the truth with `probability` p and its opposite with 1 − p, 0 < p < 1.

    Input distance 1 is one respondent's bit. ε = |ln(p/(1 − p))|.
    """

    probability: Fraction

    def __init__(self, *, probability: object) -> None:
        object.__setattr__(self, "probability", _chance(probability))

    @property
    def loss(self) -> Loss:
        """One step of the lattice of unit |ln(p/(1 − p))|; none at p = 1/2."""
        odds = max(self.probability / (1 - self.probability), (1 - self.probability) / self.probability)
        return Loss() if odds == 1 else Loss.of(LatticeLaw(unit=Log(odds), steps=1))

    @property
    def variance(self) -> float:
        """The variance of the estimate from one respondent, p(1 − p)/(2p − 1)²; infinite at p = 1/2."""
        return float("inf") if self.probability == Fraction(1, 2) else float_near(self._variance(1))

    def sample(self, values: object) -> Any:
        """One randomized bit for each of `values` (0, 1, True or False): int64 of the same shape, an int for one."""
        bits = _bits(values)
        truthful = np.asarray(noise.bernoulli(self.probability, bits.size)).reshape(bits.shape)
        answers = np.where(truthful, bits, 1 - bits)
        return int(answers) if answers.ndim == 0 else answers

    def unbias(self, mean: object) -> Fraction:
        """(mean + p − 1)/(2p − 1): the share of ones that a `mean` of the responses estimates without bias."""
        self._informative()
        return (probability(mean, "mean") + self.probability - 1) / (2 * self.probability - 1)

    def estimate(self, responses: object, beta: object = "0.05") -> Estimate:
        """The share of ones among the respondents from their randomized `responses`."""
        self._informative()
        bits = _bits(responses)
        value = self.unbias(Fraction(int(bits.sum()), bits.size))
        half = self.error(beta, bits.size)
        with precision(128):
            low, high = float_below(ball(value) - ball(half)), float_above(ball(value) + ball(half))
        return Estimate(value=value, variance=self._variance(bits.size), low=low, high=high)

    def error(self, beta: object, size: object = 1) -> float:
        """The half-width a with |estimate − share| ≤ a with probability at least 1 − beta, for `size` respondents.

        The smaller of Chebyshev's √(p(1−p)/(n·beta))/|2p−1| and Hoeffding's √(ln(2/beta)/2n)/|2p−1|.
        """
        self._informative()
        risk, count = probability(beta, "beta"), positive_integer(size, "size")
        if not 0 < risk < 1:
            raise ParameterError("must be between 0 and 1, both excluded", where="beta", got=str(risk))
        with precision(128):
            chebyshev = ball(self._variance(count) / risk).sqrt()
            hoeffding = (ball(2 / risk).log() / (2 * count)).sqrt() / ball(abs(2 * self.probability - 1))
            return min(float_above(chebyshev), float_above(hoeffding))

    def finite(self) -> FiniteMechanism:
        """The exact table of one respondent's answer: inputs and outputs 0 and 1."""
        return FiniteMechanism({x: {x: self.probability, 1 - x: 1 - self.probability} for x in (0, 1)})

    def _variance(self, count: int) -> Fraction:
        # Given the true answers, each response is Bernoulli(p) or Bernoulli(1 − p): variance p(1 − p) either way.
        p = self.probability
        return p * (1 - p) / ((2 * p - 1) ** 2 * count)

    def _informative(self) -> None:
        if self.probability == Fraction(1, 2):
            raise ParameterError("fair coins carry no information to estimate from", where="probability", got="1/2")


def _chance(value: object) -> Fraction:
    p = probability(value, "probability")
    if p in (0, 1):
        hint = "The answer would be certain and its loss infinite."
        raise ParameterError("must be between 0 and 1, both excluded", where="probability", got=str(p), hint=hint)
    return p


def _bits(values: object) -> NDArray[np.int64]:
    # A declared bit cannot be anything else; what is not 0 counts as 1, so that no value is refused after it was seen.
    exact, _ = lattice_values(values, "RandomizedResponse", kinds="biu", hint="Code the answers as 0 and 1.")
    return np.asarray(exact != 0, dtype=np.int64)
