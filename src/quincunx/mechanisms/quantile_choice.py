"""One quantile by the exponential mechanism over the buckets of a grid: the sharpest where a range is what counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import ParameterError
from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.loss import BoundedRangeLaw, Loss, RangesLaw
from quincunx.mechanisms.depth import Depths
from quincunx.mechanisms.histogram import Histogram
from quincunx.mechanisms.mechanism import World
from quincunx.mechanisms.parameters import flag, tuples
from quincunx.mechanisms.ranks import Ranks, rate_of, read_level
from quincunx.mechanisms.trial import BY_ITSELF, SLOW, STRENGTHS, Trial
from quincunx.noise.runs import near as drawn_near
from quincunx.numbers import Ball, Number, ball, near, positive, positive_integer, precision

_PRECISION: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class QuantileChoice(Ranks):
    """A bucket with probability proportional to e^{c·depth}: how deep the rank level·total lies in what it covers.

    Outside what a bucket covers, its depth is minus the distance, in lattice units of weight. c follows from `eta`, the
    range of the log-likelihood ratios (ranks.md). norm: 1 or 2, in which weights are bounded over groups.
    """

    level: Fraction
    buckets: int
    eta: Fraction
    weight: int
    norm: int
    moves: bool
    apart: bool
    tag: ClassVar[str] = "quantile-choice"
    directions: ClassVar[dict[str, int]] = {"eta": +1}

    def __init__(
        self,
        *,
        level: Number,
        buckets: Number,
        eta: Number,
        weight: Number = 1,
        norm: Number = 1,
        moves: bool = False,
        apart: bool = True,
    ) -> None:
        if norm not in (1, 2):
            raise ParameterError("must be 1 or 2", where="norm", got=str(norm)[:40])
        object.__setattr__(self, "level", read_level(level))
        object.__setattr__(self, "buckets", positive_integer(buckets, "buckets"))
        object.__setattr__(self, "eta", positive(eta, "eta"))
        object.__setattr__(self, "weight", positive_integer(weight, "weight"))
        object.__setattr__(self, "norm", int(norm))
        object.__setattr__(self, "moves", flag(moves, "moves"))
        object.__setattr__(self, "apart", flag(apart, "apart"))

    @property
    def width(self) -> int:
        """One bucket."""
        return 1

    def at(self, answers: NDArray[np.int64], level: Fraction) -> NDArray[np.int64]:
        """The bucket of each answer."""
        del level
        return answers[:, 0]

    @property
    def loss(self) -> Loss:
        """That of bounded range η; in norm 2 of ranges whose squares add up to η²."""
        return Loss.of(BoundedRangeLaw(eta=self.eta) if self.norm == 1 else RangesLaw(square=self.eta**2))

    @property
    def _rate(self) -> Fraction:
        return rate_of(self.eta, self.weight, self.level, norm=self.norm, moves=self.moves, several=self.apart)

    @property
    def variance(self) -> float:
        return float(self._rate) ** -2

    def words(self, unit: Fraction = Fraction(1)) -> str:
        """Its law, and how many rows one unit of score is."""
        return f"one bucket by the exponential mechanism, scale = {near(float(unit) / float(self._rate), 4)} rows"

    def draw(self, given: Histogram) -> list[int]:
        depths = Depths.of(given, self.level, self.buckets)
        return [drawn_near(depths.runs(), Fraction(0), self._rate / self.level.denominator)]

    def finite(self, inputs: Sequence[Sequence[int]]) -> FiniteMechanism:
        """The exact law of the bucket for each tuple of weights in `inputs`."""
        with precision(_PRECISION):
            return FiniteMechanism({row: dict(enumerate(self._law(row))) for row in tuples(inputs)})

    def _law(self, row: tuple[int, ...]) -> list[Ball]:
        rate = self._rate / self.level.denominator
        gaps = Depths.of(Histogram.of(np.array(row, dtype=np.int64)), self.level, self.buckets).each()
        sizes = [(-ball(gap * rate)).exp() for gap in gaps.tolist()]
        total = sum(sizes, Ball(0))
        return [size / total for size in sizes]

    @classmethod
    def examples(cls) -> Sequence[QuantileChoice]:
        """Levels in the middle and near the end, people who come and go or change places, in both norms."""
        return (
            cls(level="1/2", buckets=2, eta="1/2"),
            cls(level="9/10", buckets=4, eta=1, weight=3),
            cls(level="1/4", buckets=4, eta=2, norm=2, moves=True),
            cls(level="9/10", buckets=3, eta=1, weight=2, norm=2, moves=True, apart=False),
        )

    def world(self, k: int = 1) -> World:
        """A few weights at the ends, and those of k changes wherever they may lie."""
        inputs, pairs = self.finite_inputs(k)
        return self.finite(inputs), list(pairs)

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """A median of two rows and of three."""
        for epsilon in STRENGTHS:
            yield Trial(
                name=f"ε = {epsilon}",
                make=partial(cls, level="1/2", buckets=3, eta=epsilon),
                pair=((1, 0, 1), (1, 0, 2)),
                words="one row more in the last bucket",
                claim=f"epsilon={epsilon}",
                share=BY_ITSELF,
                why=f"Its ε is a limit of ever less likely buckets. {SLOW}",
            )
