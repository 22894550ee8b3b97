"""Telling two datasets apart as a test: false alarms against misses, and the best attack. Proofs: testing.md.

A test decides from the output between two datasets that differ in what the unit protects. A false alarm says "the
second" where the first is true; a miss says "the first" where the second is true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from quincunx.loss import Loss
from quincunx.meaning.belief.posterior import chance, percent
from quincunx.meaning.curves import Delta
from quincunx.meaning.given import guarantee_of
from quincunx.meaning.golden_section import smallest
from quincunx.meaning.guarantee import PRECISION, Guarantee, for_people
from quincunx.numbers import Ball, ball, float_above, float_below, precision, probability
from quincunx.spec import Specification

__all__ = ["Attack", "best_attack", "error_curve"]

_FURTHEST: Final = 60.0
_BEYOND: Final = 20.0
# How many values of ε a drawn curve is made of.
_SAMPLES: Final = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """What the best test can do, at most, at a given rate of false alarms. Rates are probabilities.

    misses: no test misses less. power: 1 − misses, the most it detects. advantage: the largest 1 − false alarms −
    misses of any test, which is the total variation distance. errors: 1 − advantage, the smallest sum of both errors.
    """

    false_alarms: Fraction
    misses: float
    power: float
    advantage: float
    errors: float

    def words(self) -> str:
        """The same in plain words."""
        return (
            f"Whoever may raise a false alarm with probability {chance(self.false_alarms)} detects the difference with "
            f"probability at most {percent(Fraction(self.power), up=True)}; blind guessing detects it with probability "
            f"{chance(self.false_alarms)}. No test has false alarms and misses that add up to less than "
            f"{percent(Fraction(self.errors), up=False)}. Where both datasets were equally likely, the best guess is "
            f"right with probability at most {percent(_halfway(self.advantage), up=True)}."
        )


def best_attack(
    guarantee: Specification | Loss,
    *,
    false_alarms: object = "0.05",
    unit: object = None,
    about: str = "record",
    people: object = 1,
) -> Attack:
    """Bounds on every test between two datasets that differ in `people` people.

    guarantee, unit, about: as for `posterior_bounds`; a statement about a record costs two steps under add/remove.
    """
    return attack_on(guarantee_of(guarantee, unit), false_alarms, about, people)


def attack_on(guarantee: Guarantee, false_alarms: object, about: object, people: object) -> Attack:
    """`best_attack` on a guarantee that was read already."""
    level = probability(false_alarms, "false_alarms")
    grown = for_people(guarantee, about, people)
    with precision(PRECISION):
        delta = grown.delta()
        misses = _misses(delta, grown, level)
        apart = delta(Ball(0)).max(Ball(0)).min(Ball(1))
        return Attack(
            false_alarms=level,
            misses=misses,
            power=float_above(1 - Fraction(misses)),
            # Balls that end at 1 reach a little beyond it; no advantage does.
            advantage=min(1.0, float_above(apart)),
            errors=max(0.0, float_below(1 - apart)),
        )


def error_curve(
    guarantee: Specification | Loss,
    levels: Sequence[object],
    *,
    unit: object = None,
    about: str = "record",
    people: object = 1,
) -> list[float]:
    """Lower bounds on the misses of every test, one for each rate of false alarms in `levels`.

    Quicker and a little lower than `best_attack`: the envelope of a few dozen lines.
    """
    rates = [probability(level, "levels") for level in levels]
    grown = for_people(guarantee_of(guarantee, unit), about, people)
    with precision(PRECISION):
        return drawn_misses(grown, rates)


def drawn_misses(grown: Guarantee, rates: Sequence[Fraction]) -> list[float]:
    """The envelope of the lines at a fixed set of ε, at each rate; `grown` is the guarantee for the whole group."""
    delta, end = grown.delta(), _end(grown, Fraction(1, 1000))
    places = [Ball(end * (i / _SAMPLES) ** 2) for i in range(_SAMPLES + 1)]
    pure = grown.pure
    if pure is not None:
        places.append(ball(pure))
    # Where δ(ε) and e^ε are known, both lines of each ε are; floats carry them with the rounding on the safe side.
    known = [(delta(at), at.exp()) for at in places]
    return [max(0.0, *(float_below(_line(share, growth, ball(rate))) for share, growth in known)) for rate in rates]


def _misses(delta: Delta, grown: Guarantee, level: Fraction) -> float:
    """The largest of the lines 1 − δ(ε) − e^ε·α and e^−ε·(1 − δ(ε) − α): every ε is valid."""
    alpha, end = ball(level), _end(grown, level)
    start = _second(delta(Ball(0)), Ball(1), alpha)
    # Beyond ln(1/α) the first line is negative; the second is at most e^−ε, so it ends where that is its value at 0.
    ends = (
        min(end, float_above(-alpha.log())) if level else end,
        min(end, max(0.0, float_above(-start.log()))) if start > 0 else end,
    )
    places = [Ball(0)]
    for line, last in zip((_first, _second), ends, strict=True):
        places.append(Ball(smallest(_negative(line, delta, alpha), 0.0, last)))
    pure = grown.pure
    if pure is not None:
        # The corner of a pure guarantee, which no search meets exactly.
        places.append(ball(pure))
    return max(0.0, *(float_below(_line(delta(at), at.exp(), alpha)) for at in places))


def _negative(line: Callable[[Ball, Ball, Ball], Ball], delta: Delta, alpha: Ball) -> Callable[[float], float]:
    return lambda x: -float_below(line(delta(Ball(x)), Ball(x).exp(), alpha))


def _line(share: Ball, growth: Ball, alpha: Ball) -> Ball:
    return _first(share, growth, alpha).max(_second(share, growth, alpha))


def _first(share: Ball, growth: Ball, alpha: Ball) -> Ball:
    return 1 - share - growth * alpha


def _second(share: Ball, growth: Ball, alpha: Ball) -> Ball:
    return (1 - share - alpha) / growth


def _end(grown: Guarantee, level: Fraction) -> float:
    # Beyond it the first line is far below 0 and the second below what a picture shows.
    end = min(_FURTHEST, float_above(-ball(level).log()) + _BEYOND if level else _FURTHEST)
    pure = grown.pure
    if pure is None:
        return end
    return min(end, float_above(ball(pure)))


def _halfway(advantage: float) -> Fraction:
    return (1 + Fraction(advantage)) / 2
