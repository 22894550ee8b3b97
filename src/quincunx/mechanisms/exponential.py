"""The exponential mechanism: one of several candidates, the better ones more likely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from quincunx import noise
from quincunx.loss import BoundedRangeLaw, Loss
from quincunx.mechanisms.selection import Selection
from quincunx.mechanisms.trial import Trial
from quincunx.numbers import Ball, ball, near


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Exponential(Selection):
    """Candidate h with probability proportional to e^{score(h)/scale}.

    `scale` and `sensitivity` are in the scores' unit; `sensitivity` is how far one person can move any score.
    `monotone` says that one person moves all scores the same way: up, or down. The log-likelihood ratio has range
    η = 2·sensitivity/scale, or sensitivity/scale where monotone; ε = η and ρ ≤ η²/8.
    """

    tag: ClassVar[str] = "exponential"

    @property
    def loss(self) -> Loss:
        """That of bounded range η."""
        return Loss.of(BoundedRangeLaw(eta=self._epsilon))

    def words(self, unit: Fraction = Fraction(1)) -> str:
        """Its law, and its scale in the scores' unit."""
        return f"a choice by the exponential mechanism, scale = {near(float(self.scale) * float(unit), 4)}"

    @classmethod
    def _trial(cls, epsilon: str, make: Callable[[], Self]) -> Trial:
        # A candidate of probability q moves by about (1 − q)·ε: here q is about 1/50.
        gap = round(8 / Fraction(epsilon))
        strong = Fraction(epsilon) >= Fraction(1, 2)
        needed = "" if strong else " So weak a law needs far more draws for that."
        return Trial(
            name=f"ε = {epsilon}",
            make=make,
            pair=((0, gap), (1, gap - 1)),
            words="two candidates, one far behind, whose scores come closer",
            claim=f"epsilon={epsilon}",
            tight=strong,
            why=f"Its ε is a limit of ever less likely candidates: this pair attains 94 to 98 % of it.{needed}",
        )

    def _pick(self, scores: Sequence[int]) -> int:
        return int(self._picks(scores, 1)[0])

    def _picks(self, scores: Sequence[int], count: int) -> NDArray[np.int64]:
        rate = self.step / self.scale
        found: NDArray[np.int64] = noise.choice([score * rate for score in scores], size=count)
        return found

    def _missed(self, others: int, weight: Ball) -> Ball:
        # One best candidate against `others` of that weight each.
        return others * weight / (1 + others * weight)

    def _law(self, gaps: Sequence[Fraction]) -> list[Ball]:
        weights = [(-ball(gap / self.scale)).exp() for gap in gaps]
        total = sum(weights, Ball(0))
        return [weight / total for weight in weights]
