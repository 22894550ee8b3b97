"""Noisy counts of bins and of stretches of bins: a tree of counts, from which any range is read. See count_tree.md."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import product
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quincunx.errors import DataError, ParameterError
from quincunx.finite import Mechanism as FiniteMechanism
from quincunx.loss import Loss
from quincunx.mechanisms.additive import LIMIT, Additive, lattice_values
from quincunx.mechanisms.discrete_gaussian import DiscreteGaussian
from quincunx.mechanisms.discrete_laplace import DiscreteLaplace
from quincunx.mechanisms.histogram import Histogram, Histograms
from quincunx.mechanisms.mechanism import Mechanism, World
from quincunx.mechanisms.parameters import tuples
from quincunx.mechanisms.ranks import read_split
from quincunx.mechanisms.trial import Trial
from quincunx.numbers import Ball, Number, ball, positive_integer, precision

_PRECISION: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class CountTree(Mechanism):
    """The weight of every bin, of every `branching` bins in a row, of every `branching` of those, and so on.

    The first level has `bins` counts, each next one counts `branching` of those below together, and the last has at
    most `branching`. `noise` is added to all of them, in parts of 1/split of a lattice unit; its sensitivity is that of
    the counts of all levels together.
    """

    bins: int
    branching: int
    split: int
    noise: Additive
    tag: ClassVar[str] = "count-tree"
    room: ClassVar[str] = "additive noise"

    def __init__(self, *, bins: Number, branching: Number, noise: Additive, split: Number = 1) -> None:
        if not isinstance(noise, Additive):
            raise ParameterError("expected noise that is added to numbers", where="noise", got=type(noise).__name__)
        width = positive_integer(branching, "branching")
        if width < 2:
            raise ParameterError("must be at least 2", where="branching", got=str(width))
        object.__setattr__(self, "bins", positive_integer(bins, "bins"))
        object.__setattr__(self, "branching", width)
        object.__setattr__(self, "split", read_split(split))
        object.__setattr__(self, "noise", noise)

    @property
    def levels(self) -> tuple[int, ...]:
        """How many counts each level has, the bins first."""
        return levels_of(self.bins, self.branching)

    @property
    def width(self) -> int:
        """How many counts an answer is."""
        return sum(self.levels)

    @property
    def loss(self) -> Loss:
        """That of its noise."""
        return self.noise.loss

    @property
    def variance(self) -> float:
        """That of each count before they are put together, in lattice units, squared."""
        return self.noise.variance / self.split**2

    def words(self, unit: Fraction = Fraction(1)) -> str:
        """How many counts there are, and the noise of each."""
        said = self.noise.words(unit / self.split)
        if len(self.levels) == 1:
            return f"{self.bins} counts, each with {said}"
        return f"{self.width} counts in {len(self.levels)} levels, each with {said}"

    def beyond(self, limit: int, risk: Fraction) -> float | None:
        """Of each count."""
        return self.noise.beyond(limit, risk)

    def counts(self, given: Histogram) -> list[int]:
        """The exact counts of all levels, the bins first, in parts of 1/split; clamped as noise takes them."""
        level = [0] * self.bins
        for place, weight in zip(given.places.tolist(), given.weights.tolist(), strict=True):
            level[place] = weight * self.split
        found = list(level)
        for _ in self.levels[1:]:
            # Python's own numbers: a sum of clamped weights may pass 2^63.
            level = [sum(level[at : at + self.branching]) for at in range(0, len(level), self.branching)]
            found += level
        return [min(max(count, -LIMIT), LIMIT) for count in found]

    def sample(self, values: ArrayLike) -> NDArray[np.int64]:
        """The noisy counts for a weight in each bin, in lattice units; a table of weights has one answer a row."""
        exact, _ = lattice_values(values, type(self).__name__)
        if exact.ndim not in (1, 2) or exact.shape[-1] != self.bins:
            got = f"an array of shape {exact.shape}"
            raise DataError(f"expected weights of {self.bins} bins", where=type(self).__name__, got=got)
        rows = [Histogram.of(row) for row in np.atleast_2d(exact)]
        noisy = self._each(rows)
        return noisy[0] if exact.ndim == 1 else noisy

    def each(self, exact: Histograms) -> NDArray[np.int64]:
        """One answer for each histogram."""
        return self._each(list(exact))

    def _each(self, rows: Sequence[Histogram]) -> NDArray[np.int64]:
        counted = np.array([self.counts(each) for each in rows], dtype=np.int64).reshape(len(rows), self.width)
        return self.noise.each(counted)

    def finite(self, inputs: Sequence[Sequence[int]], reach: int = 0) -> FiniteMechanism:
        """The exact law of all counts for each tuple of weights, each clamped `reach` beyond what the inputs have."""
        rows = tuples(inputs)
        counted = {row: self.counts(Histogram.of(np.array(row, dtype=np.int64))) for row in rows}
        single = self.noise.finite(sorted({count for each in counted.values() for count in each}), reach)
        with precision(_PRECISION):
            laws = {count: dict(zip(single.outputs, single.law(count), strict=True)) for count in single.inputs}
            return FiniteMechanism({row: _product([laws[count] for count in each]) for row, each in counted.items()})

    @classmethod
    def examples(cls) -> Sequence[CountTree]:
        """One level and two, noise of both kinds, parts of a unit."""
        return (
            cls(bins=2, branching=4, noise=DiscreteLaplace(scale=2)),
            cls(bins=3, branching=2, noise=DiscreteLaplace(scale=3, sensitivity=2)),
            cls(bins=2, branching=2, split=2, noise=DiscreteLaplace(scale="1/2", sensitivity=2)),
            cls(bins=3, branching=2, noise=DiscreteGaussian(sigma=2, sensitivity2=2)),
        )

    def world(self, k: int = 1) -> World:
        """Nobody, and k people in any one bin."""
        inputs = [tuple(0 for _ in range(self.bins))]
        inputs += [tuple(k * (place == at) for place in range(self.bins)) for at in range(self.bins)]
        return self.finite(inputs), [(inputs[0], other) for other in inputs[1:]]

    @classmethod
    def trials(cls) -> Iterator[Trial]:
        """Somebody who is in a bin and in the stretches around it: as far as the sensitivity allows."""
        for epsilon in ("0.5", "1"):
            noise = DiscreteLaplace(scale=2 / Fraction(epsilon), sensitivity=2)
            yield Trial(
                name=f"ε = {epsilon}",
                make=partial(cls, bins=3, branching=2, noise=noise),
                pair=((1, 0, 0), (2, 0, 0)),
                words="one row more in the first bin",
                claim=f"epsilon={epsilon}",
                tight=True,
            )


def _product(laws: Sequence[dict[Any, Any]]) -> dict[Hashable, Ball]:
    found: dict[Hashable, Ball] = {}
    for outcome in product(*(law.items() for law in laws)):
        chance = Ball(1)
        for _, each in outcome:
            chance = chance * ball(each)
        found[tuple(value for value, _ in outcome)] = chance
    return found


@lru_cache(maxsize=64)
def levels_of(bins: int, branching: int) -> tuple[int, ...]:
    """How many counts each level of a tree has."""
    levels = [bins]
    while levels[-1] > branching:
        levels.append(-(-levels[-1] // branching))
    return tuple(levels)
