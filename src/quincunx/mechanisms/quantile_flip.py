"""One quantile by permute-and-flip over the buckets of a grid: the sharpest under pure differential privacy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.loss import Loss
from quincunx.mechanisms.depth import Depths
from quincunx.mechanisms.histogram import Histogram
from quincunx.mechanisms.mechanism import World
from quincunx.mechanisms.parameters import flag, stated, tuples
from quincunx.mechanisms.permute_and_flip import law_of
from quincunx.mechanisms.ranks import Ranks, rate_of, read_level
from quincunx.mechanisms.trial import BY_ITSELF, SLOW, STRENGTHS, Trial
from quincunx.noise import uniform_integers
from quincunx.noise.runs import passing
from quincunx.numbers import Ball, Number, ball, near, positive, positive_integer, precision

_PRECISION: Final = 512


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class QuantileFlip(Ranks):
    """One of the buckets in random order is taken with probability e^{−c·gap}, else the next is tried.

    gap: how much less deep the rank that is wanted, level·total, lies in the ranks that the bucket covers than in those
    of the deepest bucket, in lattice units of weight. c follows from `epsilon` (ranks.md). ε-DP; not of bounded range.
    """

    level: Fraction
    buckets: int
    epsilon: Fraction
    weight: int
    moves: bool
    apart: bool
    tag: ClassVar[str] = "quantile-flip"
    directions: ClassVar[dict[str, int]] = {"epsilon": +1}

    def __init__(
        self,
        *,
        level: Number,
        buckets: Number,
        epsilon: Number,
        weight: Number = 1,
        moves: bool = False,
        apart: bool = True,
    ) -> None:
        object.__setattr__(self, "level", read_level(level))
        object.__setattr__(self, "buckets", positive_integer(buckets, "buckets"))
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        object.__setattr__(self, "weight", positive_integer(weight, "weight"))
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
        """ε and, as for every ε-DP mechanism, ρ = ε·tanh(ε/2), rounded up."""
        return stated(self.epsilon)

    @property
    def _rate(self) -> Fraction:
        return rate_of(self.epsilon, self.weight, self.level, norm=1, moves=self.moves, several=self.apart)

    @property
    def variance(self) -> float:
        return float(self._rate) ** -2

    def words(self, unit: Fraction = Fraction(1)) -> str:
        """Its law, and how many rows one unit of score is."""
        return f"one bucket by permute-and-flip, scale = {near(float(unit) / float(self._rate), 4)} rows"

    def draw(self, given: Histogram) -> list[int]:
        gaps = self.gaps(given)
        # Whoever passes first in a random order is uniform among all who pass (permute_and_flip.md).
        passed = np.flatnonzero(passing(gaps, self._rate / self.level.denominator))
        return [int(passed[uniform_integers(len(passed))])]

    def gaps(self, given: Histogram) -> NDArray[Any]:
        """How much less deep the rank lies in each bucket than in the deepest, in parts of the level's denominator."""
        return Depths.of(given, self.level, self.buckets).each()

    def finite(self, inputs: Sequence[Sequence[int]]) -> FiniteMechanism:
        """The exact law of the bucket for each tuple of weights in `inputs`."""
        rate = self._rate / self.level.denominator
        with precision(_PRECISION):
            return FiniteMechanism({row: dict(enumerate(self._law(row, rate))) for row in tuples(inputs)})

    def _law(self, row: tuple[int, ...], rate: Fraction) -> list[Ball]:
        gaps = self.gaps(Histogram.of(np.array(row, dtype=np.int64))).tolist()
        return law_of([(-ball(gap * rate)).exp() for gap in gaps])

    @classmethod
    def examples(cls) -> Sequence[QuantileFlip]:
        """Levels in the middle and near the end, people who come and go or change places."""
        return (
            cls(level="1/2", buckets=2, epsilon="1/2"),
            cls(level="9/10", buckets=4, epsilon=1, weight=3),
            cls(level="1/4", buckets=4, epsilon=2, moves=True),
            cls(level="9/10", buckets=3, epsilon=1, weight=2, moves=True, apart=False),
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
                make=partial(cls, level="1/2", buckets=3, epsilon=epsilon),
                pair=((1, 0, 1), (1, 0, 2)),
                words="one row more in the last bucket",
                claim=f"epsilon={epsilon}",
                share=BY_ITSELF,
                why=f"One row moves two ranks apart by half of it each. {SLOW}",
            )
