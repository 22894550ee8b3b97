"""How deep the rank that is wanted lies in each bucket: the score by which one bucket is drawn. See ranks.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quincunx.mechanisms.histogram import Histogram
from quincunx.noise.runs import Runs


@dataclass(frozen=True, slots=True, eq=False)
class Depths:
    """Occupied buckets and the empty stretches between them, from the first bucket to the last.

    `gaps[i]` ≥ 0: how much less deep the rank level·total lies in each of the `lengths[i]` buckets than in the deepest,
    in parts of 1/denominator of the level; below 0 in `ways` where the bucket lies before the rank.
    """

    gaps: NDArray[Any]
    lengths: NDArray[np.int64]
    ways: NDArray[np.int64]

    @classmethod
    def of(cls, given: Histogram, level: Fraction, buckets: int) -> Depths:
        """Those of a histogram with so many buckets."""
        top, bottom = level.numerator, level.denominator
        total = sum(given.weights.tolist())
        # Beyond int64 Python's own numbers take over: slower, and the same.
        weights = given.weights.astype(object) if 2 * total * bottom >= 2**62 else given.weights
        below = np.concatenate((np.zeros(1, dtype=weights.dtype), np.cumsum(weights))) * bottom
        size = 2 * len(weights) + 1
        under, upto = (np.empty(size, dtype=below.dtype) for _ in range(2))
        # An empty bucket covers the one rank between those around it.
        under[0::2] = upto[0::2] = below
        under[1::2], upto[1::2] = below[:-1], below[1:]
        # Where each stretch begins, and where the last one ends.
        marks = np.empty(size + 1, dtype=np.int64)
        marks[0], marks[-1] = 0, buckets
        marks[1:-1:2], marks[2:-1:2] = given.places, given.places + 1
        lengths = marks[1:] - marks[:-1]
        kept, wanted = lengths > 0, top * total
        under, upto = under[kept], upto[kept]
        # Inside a bucket this is negative: how far the rank lies from the nearer end of those that it covers.
        off = np.maximum(under - wanted, wanted - upto)
        return cls(off - off.min(), lengths[kept], np.where(under >= wanted, 1, -1))

    def each(self) -> NDArray[Any]:
        """The gap of every bucket."""
        return np.repeat(self.gaps, self.lengths)

    def runs(self) -> Runs:
        """The buckets in a row, so that the distance of each from 0 is its gap."""
        return Runs(lengths=self.lengths, values=self.gaps * self.ways, slopes=np.zeros_like(self.gaps))
