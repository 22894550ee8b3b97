"""Randomized response, with two options or more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar, Final, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quincunx import noise
from quincunx.errors import ParameterError
from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.finite import guard
from quincunx.loss import LatticeLaw, Loss, ResponseLaw
from quincunx.mechanisms.additive import lattice_values
from quincunx.mechanisms.calibration import responding, responding_within
from quincunx.mechanisms.goal import Guarantee, goal
from quincunx.mechanisms.mechanism import Mechanism, World
from quincunx.mechanisms.trial import SLOW, STRENGTHS, Trial, one_at_a_time
from quincunx.numbers import (
    Log,
    Number,
    ball,
    float_above,
    float_below,
    float_near,
    near,
    positive_integer,
    precision,
    probability,
)

# Every option has an estimate of its own; beyond this a table of them is not what is wanted.
_MOST_OPTIONS: Final = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An unbiased estimate of the share of one option among the respondents, and an interval that covers it.

    `value` is exact and may lie outside [0, 1]. `variance` is exact for two options, given the respondents' true
    answers; for more it depends on the true share and is the largest it can be. Sampling error is not included. `low`
    and `high` enclose the true share with probability at least 1 − beta.
    """

    value: Fraction
    variance: Fraction
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class RandomizedResponse(Mechanism):
    """Each respondent has one of k = `options` answers, 0 … k − 1, and tells the truth with `probability` p, 0 < p < 1.

    Every other option is told with r = (1 − p)/(k − 1). Input distance 1 is one respondent's answer. ε = |ln(p/r)|;
    with two options, |ln(p/(1 − p))|.
    """

    probability: Fraction
    options: int
    tag: ClassVar[str] = "randomized-response"
    room: ClassVar[str] = "choices"
    term: ClassVar[str] = "one respondent's answer, true with the probability given, otherwise one of the other options"
    accuracy: ClassVar[str] = "the share of an answer estimated from {count} respondents is within {half} of the truth"

    def __init__(self, *, probability: Number, options: Number = 2) -> None:
        object.__setattr__(self, "probability", _chance(probability))
        object.__setattr__(self, "options", _number_of_options(options))

    @classmethod
    def calibrate(cls, *, options: Number = 2, **guarantee: Unpack[Guarantee]) -> RandomizedResponse:
        """The most truthful answers whose certified loss meets one guarantee: calibration.md has the five forms."""
        return responding(goal(**guarantee), lambda p: cls(probability=p, options=options), _number_of_options(options))

    @classmethod
    def for_error(cls, *, error: Number, beta: Number, size: Number = 1, options: Number = 2) -> RandomizedResponse:
        """The least truthful answers whose `error(beta, size)` is at most `error`; the loss says what that costs."""
        k = _number_of_options(options)
        return responding_within(
            lambda p: cls(probability=p, options=k), lambda found: found.error(beta, size), k, error=error
        )

    @property
    def loss(self) -> Loss:
        """One step of the lattice of unit |ln(p/r)| with two options, the response law with more; none at p = r."""
        high, low = max(self.probability, self._other), min(self.probability, self._other)
        if high == low:
            return Loss()
        return Loss.of(
            LatticeLaw(unit=Log(high / low), steps=1) if self.options == 2 else ResponseLaw(high=high, low=low)
        )

    @property
    def variance(self) -> float:
        """The variance of an estimated share from one respondent, max(p(1 − p), r(1 − r))/(p − r)²; infinite at p = r.

        With two options it is p(1 − p)/(2p − 1)² whatever the truth is.
        """
        return float("inf") if self.probability == self._other else float_near(self._variance(1))

    @overload
    def sample(self, values: int) -> int: ...

    @overload
    def sample(self, values: ArrayLike) -> NDArray[np.int64]: ...

    def sample(self, values: ArrayLike) -> int | NDArray[np.int64]:
        """One randomized answer for each of `values`: int64 of the same shape, an int for one.

        With two options any value but 0 counts as 1; with more, values are clamped to 0 … k − 1.
        """
        truth = self._answers(values)
        truthful = np.asarray(noise.bernoulli(self.probability, truth.size)).reshape(truth.shape)
        if self.options == 2:
            answers = np.where(truthful, truth, 1 - truth)
        else:
            # Uniform on the k − 1 others: those from the truth on move up by one.
            lie = np.asarray(noise.uniform_integers(self.options - 1, truth.size)).reshape(truth.shape)
            answers = np.where(truthful, truth, lie + (lie >= truth))
        return int(answers) if answers.ndim == 0 else answers

    def words(self, unit: Fraction = Fraction(1)) -> str:  # noqa: ARG002 - answers have no unit
        """How often the truth is told, among how many options."""
        return f"randomized response, true with probability {near(self.probability, 4)} among {self.options} options"

    def unbias(self, mean: Number) -> Fraction:
        """(mean − r)/(p − r): the share of an option that its share `mean` among the responses estimates without bias.

        With two options, (mean + p − 1)/(2p − 1).
        """
        self._informative()
        return (probability(mean, "mean") - self._other) / (self.probability - self._other)

    def estimate(self, responses: ArrayLike, beta: Number = "0.05") -> Estimate:
        """The share of ones among the respondents from their randomized `responses`; for two options."""
        if self.options != 2:
            hint = "Call estimates(…): one for each option."
            raise ParameterError("is for two options", where="estimate", got=f"{self.options} options", hint=hint)
        return self.estimates(responses, beta)[1]

    def estimates(self, responses: ArrayLike, beta: Number = "0.05") -> tuple[Estimate, ...]:
        """The share of each option, in order. All intervals cover together with probability at least 1 − beta."""
        self._informative()
        answers = self._answers(responses)
        half = self.error(beta, answers.size)
        counts = np.bincount(answers.ravel(), minlength=self.options).tolist()
        return tuple(self._estimate(Fraction(count, answers.size), answers.size, half) for count in counts)

    def error(self, beta: Number, size: Number = 1) -> float:
        """The half-width a with |estimate − share| ≤ a for every option at once with probability at least 1 − beta.

        For `size` = n respondents, the smaller of Chebyshev's √(v/(n·beta))/|p−r| and Hoeffding's
        √(ln(2m/beta)/2n)/|p−r|. With two options both estimates err alike: v = p(1−p), m = 1. With more, m = k and v is
        the sum of all options' variances, p(1−p) + (k−1)·r(1−r).
        """
        self._informative()
        risk, count = probability(beta, "beta"), positive_integer(size, "size")
        if not 0 < risk < 1:
            raise ParameterError("must be between 0 and 1, both excluded", where="beta", got=str(risk))
        p, r, k = self.probability, self._other, self.options
        events, spread = (1, p * (1 - p)) if k == 2 else (k, p * (1 - p) + (k - 1) * r * (1 - r))
        with precision(128):
            chebyshev = ball(spread / (count * risk)).sqrt() / ball(abs(p - r))
            hoeffding = (ball(2 * events / risk).log() / (2 * count)).sqrt() / ball(abs(p - r))
            return min(float_above(chebyshev), float_above(hoeffding))

    def finite(self) -> FiniteMechanism:
        """The exact table of one respondent's answer: inputs and outputs 0 … k − 1."""
        guard(self.options**2, "the table")
        others = range(self.options)
        return FiniteMechanism({x: {y: self.probability if y == x else self._other for y in others} for x in others})

    @classmethod
    def examples(cls) -> Sequence[RandomizedResponse]:
        """Truthful, lying and guessing, with two options and with more."""
        two = [cls(probability=p) for p in ("3/4", "0.6", "1/2", "0.1", "0.999999")]
        more = (("3/4", 3), ("0.05", 3), ("1/5", 5), ("0.3", 12), ("0.999999", 4))
        return [*two, *(cls(probability=p, options=k) for p, k in more)]

    def world(self, k: int = 1) -> World:
        """k respondents whose answers all move."""
        return self.finite().power(k), [(0, 1), (self.options - 1, 0)]

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """At every strength with two options and with three, and an estimate from three respondents."""
        for epsilon in STRENGTHS:
            for options in (2, 3):
                yield Trial(
                    name=f"ε = {epsilon}, {options} options",
                    make=partial(cls.calibrate, epsilon=epsilon, options=options),
                    pair=(0, options - 1),
                    words="one respondent with another answer",
                    claim=f"epsilon={epsilon}",
                    tight=True,
                )
        yield Trial(
            name="mean of three",
            make=partial(cls, probability="0.75"),
            pair=((1, 1, 0), (1, 1, 1)),
            words="one of three respondents with another answer",
            draw=lambda coin: one_at_a_time(lambda answers: float(coin.estimate(coin.sample(list(answers))).value)),
            share=Fraction("0.02"),
            why=f"An estimate adds up what the others said, which hides the one. {SLOW}",
            also=("Estimate",),
        )

    @property
    def _other(self) -> Fraction:
        # The probability r of each option that is not the truth.
        return (1 - self.probability) / (self.options - 1)

    def _answers(self, values: object) -> NDArray[np.int64]:
        # A declared answer cannot be anything else; what is out of range is moved into it, so that no value is refused
        # after it was seen.
        hint = f"Code the answers as 0 … {self.options - 1}."
        exact, _ = lattice_values(values, "RandomizedResponse", kinds="biu", hint=hint)
        return np.asarray(exact != 0 if self.options == 2 else np.clip(exact, 0, self.options - 1), dtype=np.int64)

    def _estimate(self, mean: Fraction, count: int, half: float) -> Estimate:
        value = self.unbias(mean)
        with precision(128):
            low, high = float_below(ball(value) - ball(half)), float_above(ball(value) + ball(half))
        return Estimate(value=value, variance=self._variance(count), low=low, high=high)

    def _variance(self, count: int) -> Fraction:
        # Given the true answers, an option is told with Bernoulli(p) by those who have it, Bernoulli(r) by the others.
        p, r = self.probability, self._other
        return max(p * (1 - p), r * (1 - r)) / ((p - r) ** 2 * count)

    def _informative(self) -> None:
        if self.probability == self._other:
            what = "fair coins carry no information to estimate from"
            raise ParameterError(what, where="probability", got=str(self.probability))


def _number_of_options(value: object) -> int:
    number = positive_integer(value, "options")
    if not 2 <= number <= _MOST_OPTIONS:
        raise ParameterError("must be from 2 to 2^20", where="options", got=str(number)[:40])
    return number


def _chance(value: object) -> Fraction:
    p = probability(value, "probability")
    if p in (0, 1):
        hint = "The answer would be certain and its loss infinite."
        raise ParameterError("must be between 0 and 1, both excluded", where="probability", got=str(p), hint=hint)
    return p
