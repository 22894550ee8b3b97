"""Four promises about a belief, as regions of (prior, posterior): Figure 2 of the survey. Proofs: shape.md.

Desfontaines and Pejó 2022, "SoK: differential privacies", Section 7.2. `prior` is what is believed of a statement t
before a release, the posterior what is believed of it after an event of the output was seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from quincunx.errors import ParameterError
from quincunx.meaning.belief.posterior import moved
from quincunx.numbers import (
    Ball,
    Exact,
    Log,
    ball,
    delta_parameter,
    exact_fraction,
    float_above,
    float_below,
    non_negative,
    precision,
    probability,
)
from quincunx.spec import exponential

_PRECISION = 256


class Shape:
    """A promise that a belief of `prior` ends between two bounds."""

    __slots__ = ()

    def bounds(self, prior: object) -> tuple[float, float]:
        """Certified bounds on the posterior, rounded outwards."""
        low, high = self.enclosure(prior)
        return float_below(low), float_above(high)

    def allows(self, prior: object, posterior: object) -> bool:
        """Whether a belief may go from `prior` to `posterior`; decided exactly where e^ε is rational."""
        low, high = self.enclosure(prior)
        return low <= probability(posterior, "posterior") <= high

    def enclosure(self, prior: object) -> tuple[Fraction, Fraction]:
        """The bounds as rationals: exact where e^ε is rational, otherwise the outer ends of a narrow interval."""
        belief = probability(prior, "prior")
        with precision(_PRECISION):
            growth = exponential(self._epsilon())
            low, high = self._bounds(belief, growth)
        return max(Fraction(0), _lower(low)), min(Fraction(1), _upper(high))

    def _epsilon(self) -> Exact:
        raise NotImplementedError

    def _bounds(self, prior: Fraction, growth: Fraction | Ball) -> tuple[Fraction | Ball, Fraction | Ball]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class _OfEpsilon(Shape):
    epsilon: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(self.epsilon))

    def _epsilon(self) -> Exact:
        return self.epsilon


@dataclass(frozen=True, slots=True)
class Differential(_OfEpsilon):
    """ε-differential privacy between two options: the odds of t move by a factor from e^−ε to e^ε."""

    def _bounds(self, prior: Fraction, growth: Fraction | Ball) -> tuple[Fraction, Fraction]:
        return moved(prior, growth)


@dataclass(frozen=True, slots=True)
class PositiveMembership(_OfEpsilon):
    """ε-positive membership privacy (Definition 34): t becomes at most e^ε times as likely, not-t at least e^−ε times.

    The posterior is at most min(e^ε·π, 1 − e^−ε·(1 − π)); nothing bounds it from below.
    """

    def _bounds(self, prior: Fraction, growth: Fraction | Ball) -> tuple[Fraction, Fraction]:
        return Fraction(0), _smaller(_times(growth, prior), 1 - _over(1 - prior, growth))


@dataclass(frozen=True, slots=True)
class Adversarial(_OfEpsilon):
    """(ε, δ)-adversarial privacy (Definition 35): the posterior is at most e^ε·π + δ; nothing bounds it from below.

    delta: δ, a rational in [0, 1).
    """

    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", read_epsilon(self.epsilon))
        object.__setattr__(self, "delta", delta_parameter(self.delta))

    def _bounds(self, prior: Fraction, growth: Fraction | Ball) -> tuple[Fraction, Fraction]:
        return Fraction(0), _upper(_times(growth, prior)) + self.delta


@dataclass(frozen=True, slots=True)
class APosterioriNoiseless(_OfEpsilon):
    """ε-a-posteriori noiseless privacy (Definition 36): t and not-t each change by a factor from e^−ε to e^ε.

    The posterior is from max(e^−ε·π, 1 − e^ε·(1 − π)) to min(e^ε·π, 1 − e^−ε·(1 − π)).
    """

    def _bounds(self, prior: Fraction, growth: Fraction | Ball) -> tuple[Fraction, Fraction]:
        low = max(_lower(_over(prior, growth)), _lower(1 - _times(growth, 1 - prior)))
        return low, _smaller(_times(growth, prior), 1 - _over(1 - prior, growth))


def read_epsilon(epsilon: object) -> Exact:
    """ε ≥ 0: a rational as typed, or Log(r) with r ≥ 1."""
    if not isinstance(epsilon, Log):
        return non_negative(epsilon, "epsilon")
    if epsilon.of < 1:
        raise ParameterError("must be 0 or greater", where="epsilon", got=str(epsilon))
    return epsilon


def _times(growth: Fraction | Ball, share: Fraction) -> Fraction | Ball:
    return growth * share if isinstance(growth, Fraction) else growth * ball(share)


def _over(share: Fraction, growth: Fraction | Ball) -> Fraction | Ball:
    return share / growth if isinstance(growth, Fraction) else ball(share) / growth


def _smaller(one: Fraction | Ball, other: Fraction | Ball) -> Fraction:
    return min(_upper(one), _upper(other))


def _upper(value: Fraction | Ball) -> Fraction:
    if isinstance(value, Fraction):
        return value
    # A growth that overflows bounds nothing.
    return exact_fraction(value.upper()) if value.is_finite() else Fraction(1)


def _lower(value: Fraction | Ball) -> Fraction:
    if isinstance(value, Fraction):
        return value
    return exact_fraction(value.lower()) if value.is_finite() else Fraction(0)
