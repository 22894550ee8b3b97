"""Permute-and-flip: a choice among candidates that is never worse than the exponential mechanism's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from flint import arb_poly
from numpy.typing import NDArray

from quincunx import noise
from quincunx.loss import Loss
from quincunx.mechanisms.parameters import stated
from quincunx.mechanisms.selection import Selection
from quincunx.mechanisms.trial import Trial
from quincunx.numbers import Ball, ball, near


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class PermuteAndFlip(Selection):
    """Candidates in random order; each is taken with probability e^{−(best − score)/scale}, else the next is tried.

    The best is taken whenever it is reached. `scale` and `sensitivity` are in the scores' unit; `sensitivity` is how
    far one person can move any score. `monotone` says that one person moves all scores the same way: up, or down.
    ε = 2·sensitivity/scale, or sensitivity/scale where monotone. It is not of bounded range: ρ = ε·tanh(ε/2).
    """

    tag: ClassVar[str] = "permute-and-flip"

    @property
    def loss(self) -> Loss:
        """ε and, as for every ε-DP mechanism, ρ = ε·tanh(ε/2), rounded up."""
        return stated(self._epsilon)

    def words(self, unit: Fraction = Fraction(1)) -> str:
        """Its law, and its scale in the scores' unit."""
        return f"a choice by permute-and-flip, scale = {near(float(self.scale) * float(unit), 4)}"

    @classmethod
    def _trial(cls, epsilon: str, make: Callable[[], Self]) -> Trial:
        # The worse of two is taken with probability e^{−gap/scale}/2, so the ratio of two gaps is e^ε exactly.
        return Trial(
            name=f"ε = {epsilon}",
            make=make,
            pair=((0, 0), (1, -1)),
            words="two candidates whose scores move apart",
            claim=f"epsilon={epsilon}",
            tight=True,
        )

    def _pick(self, scores: Sequence[int]) -> int:
        best, rate = max(scores), self.step / self.scale
        # The best candidate's coin always lands heads, so the walk ends before the order does.
        order: list[int] = noise.permutation(len(scores)).tolist()
        return next(place for place in order if noise.bernoulli_exp((best - scores[place]) * rate))

    def _picks(self, scores: Sequence[int], count: int) -> NDArray[np.int64]:
        best, rate, candidates = max(scores), self.step / self.scale, len(scores)
        # Every candidate's coin is flipped beforehand: whether it is looked at changes no law.
        coins = np.stack([noise.bernoulli_exp((best - score) * rate, size=count) for score in scores], axis=1)
        order, every = np.tile(np.arange(candidates), (count, 1)), np.arange(count)
        for place in range(candidates - 1):
            other = place + noise.uniform_integers(candidates - place, size=count)
            order[every, place], order[every, other] = order[every, other], order[every, place]
        heads = np.take_along_axis(coins, order, axis=1)
        found: NDArray[np.int64] = order[every, heads.argmax(axis=1)]
        return found

    def _missed(self, others: int, weight: Ball) -> Ball:
        # The best is reached after j of m − 1 others with probability 1/m: 1 − Σ (1 − w)^j/m, a geometric series.
        count = others + 1
        return 1 + (count * (-weight).log1p()).expm1() / (count * weight)

    def _law(self, gaps: Sequence[Fraction]) -> list[Ball]:
        return law_of([(-ball(gap / self.scale)).exp() for gap in gaps])


def law_of(weights: Sequence[Ball]) -> list[Ball]:
    """The probability of each candidate, given with which each is taken where it is reached."""
    return [weight * _reached([1 - w for j, w in enumerate(weights) if j != i]) for i, weight in enumerate(weights)]


def _reached(misses: Sequence[Ball]) -> Ball:
    # With its place uniform on [0, 1], each other candidate comes before x with probability x and must miss:
    # ∫ Π (1 − x + x·miss) dx over [0, 1].
    product = arb_poly([1])
    for miss in misses:
        product = product * arb_poly([1, miss - 1])
    return product.integral()(Ball(1))
