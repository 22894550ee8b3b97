"""The same bounds as likelihood ratios, odds and relative risks. Proofs: posterior.md.

The likelihood ratio of an output is its probability if a statement is true, over that if it is false. It is the factor
by which the statement's odds move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from quincunx.errors import ParameterError
from quincunx.loss import Loss, as_ball
from quincunx.meaning.belief.posterior import moved, read_risk
from quincunx.meaning.given import guarantee_of
from quincunx.meaning.guarantee import PRECISION, Guarantee, for_people
from quincunx.numbers import Ball, ball, float_above, float_below, non_negative, precision, probability
from quincunx.spec import Specification

_DIGITS_SHOWN: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Odds:
    """What a guarantee says about a belief of `prior`, in ratios. Each pair is (lower, upper), rounded outwards.

    likelihood_ratio: P(output | true)/P(output | false). before, after: the odds π/(1 − π), `inf` at π = 1.
    relative_risk: posterior over prior. outside: the probability with which the bounds may fail.
    """

    prior: Fraction
    likelihood_ratio: tuple[float, float]
    before: float
    after: tuple[float, float]
    relative_risk: tuple[float, float]
    outside: Fraction

    @property
    def factor(self) -> float:
        """The largest factor by which the odds can move, up or down."""
        return self.likelihood_ratio[1]


def odds(
    prior: object,
    guarantee: Specification | Loss,
    *,
    unit: object = None,
    about: str = "record",
    people: object = 1,
    outside: object = None,
) -> Odds:
    """Bounds on likelihood ratio, posterior odds and relative risk; parameters as for `posterior_bounds`."""
    return ratios(prior, guarantee_of(guarantee, unit), about, people, outside)


def ratios(prior: object, guarantee: Guarantee, about: object, people: object, outside: object) -> Odds:
    """`odds` of a guarantee that was read already."""
    belief = probability(prior, "prior")
    risk = None if outside is None else read_risk(outside)
    grown = for_people(guarantee, about, people)
    with precision(PRECISION):
        factor, left = grown.growth(risk)
        growth = as_ball(factor)
        # A growth that overflows bounds nothing.
        least, most = (1 / growth, growth) if growth.is_finite() else (Ball(0), Ball.pos_inf())
        low, high = moved(belief, factor)
        start = ball(belief / (1 - belief)) if belief < 1 else Ball.pos_inf()
        after = (start * least, start * most) if 0 < belief < 1 else (start, start)
        # C_θ = LR/(LR·θ + 1 − θ) rises with LR, so its ends are those of LR; at θ = 0 it is LR itself.
        risks = (low / belief, high / belief) if belief else (least, most)
        return Odds(
            prior=belief,
            likelihood_ratio=(float_below(least), float_above(most)),
            before=float_above(start),
            after=(float_below(after[0]), float_above(after[1])),
            relative_risk=(float_below(risks[0]), float_above(risks[1])),
            outside=left,
        )


def relative_risk(prior: object, likelihood_ratio: object) -> Fraction:
    """C_θ = LR/(LR·θ + 1 − θ): posterior over prior, where θ is the prior and LR the output's likelihood ratio.

    Exact. It lies between 1 and LR, whatever θ is: C_0 = LR and C_1 = 1.
    """
    theta, ratio = probability(prior, "prior"), non_negative(likelihood_ratio, "likelihood_ratio")
    below = ratio * theta + 1 - theta
    if below == 0:
        hint = "A statement that is certain makes no output with likelihood ratio 0."
        raise ParameterError("no such output can be seen", where="likelihood_ratio", got="0 at prior 1", hint=hint)
    return ratio / below


def times(factor: float) -> str:
    """A factor of at least 1 in few digits, rounded up; from a million on the next power of ten."""
    if math.isinf(factor):
        return "∞"
    digits = len(str(math.ceil(factor)))
    if digits > _DIGITS_SHOWN:
        return f"10^{digits}"
    decimals = max(0, 3 - digits)
    scaled = math.ceil(Fraction(factor) * 10**decimals)
    whole, rest = divmod(scaled, 10**decimals)
    return f"{whole:,}.{rest:0{decimals}d}" if rest else f"{whole:,}"
