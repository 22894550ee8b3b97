"""Weights in the buckets of a grid, without those that are empty: what quantiles are drawn from."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quincunx.noise.runs import Runs

# One histogram for each group.
Histograms: TypeAlias = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """`weights[i]` ≥ 0 units of weight lie in bucket `places[i]`; places rise, and all other buckets are empty."""

    places: NDArray[np.int64]
    weights: NDArray[np.int64]

    def __repr__(self) -> str:
        # A private value must not appear in a traceback or a log.
        return "Histogram(private)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Histogram) and self.dense() == other.dense()

    def __hash__(self) -> int:
        return hash(tuple(self.dense().items()))

    @classmethod
    def of(cls, dense: NDArray[np.int64]) -> Histogram:
        """The histogram of one weight for each bucket; a negative one counts as 0."""
        places = np.flatnonzero(dense > 0)
        return cls(places, dense[places])

    @classmethod
    def even(cls, buckets: int, rows: int, weight: Fraction) -> Histogram:
        """A made-up histogram: so many rows of one weight, spread evenly over the buckets."""
        count = min(rows, buckets)
        places = (np.arange(count) * buckets) // count
        return cls(places, np.full(count, int(Fraction(rows, count) * weight), dtype=np.int64))

    def dense(self) -> dict[int, int]:
        """Bucket → weight, where there is some."""
        return {
            place: weight for place, weight in zip(self.places.tolist(), self.weights.tolist(), strict=True) if weight
        }

    def distance(self, other: Histogram) -> int:
        """The ℓ1 distance over all buckets."""
        mine, theirs = self.dense(), other.dense()
        return sum(abs(mine.get(place, 0) - theirs.get(place, 0)) for place in {**mine, **theirs})


def gathered(groups: int, place: NDArray[np.int64], bucket: NDArray[np.int64], weight: NDArray[np.int64]) -> Histograms:
    """One histogram for each of `groups`, from triples of group, bucket and weight in any order, each bucket once."""
    order = np.lexsort((bucket, place))
    place, bucket, weight = place[order], bucket[order], weight[order]
    ends = np.searchsorted(place, np.arange(groups + 1))
    found = np.empty(groups, dtype=object)
    found[:] = [Histogram(bucket[a:b], weight[a:b]) for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
    return found


class Ladder:
    """A histogram as a curve: each bucket is `split` positions, over which its weight is spread evenly.

    F(p) is the weight below position p, in parts of 1/split; positions run from 0 to buckets·split, both included.
    """

    __slots__ = ("_below", "_places", "_split", "_weights", "end", "total")

    def __init__(self, given: Histogram, buckets: int, split: int) -> None:
        weights = given.weights
        self.total = sum(weights.tolist()) * split
        if self.total >= 2**62:
            # Beyond int64 Python's own numbers take over: slower, and the same.
            weights = weights.astype(object)
        self._places, self._weights, self._split = given.places, weights, split
        self._below = np.concatenate((np.zeros(1, dtype=weights.dtype), np.cumsum(weights))) * split
        self.end = buckets * split

    def at(self, position: int) -> int:
        """F(position)."""
        bucket, inside = divmod(position, self._split)
        index = int(np.searchsorted(self._places, bucket))
        here = index < len(self._places) and self._places[index] == bucket
        return int(self._below[index]) + (inside * int(self._weights[index]) if here else 0)

    def runs(self, first: int, last: int) -> Runs:
        """The positions from `first` to `last`, both included: occupied buckets, and empty stretches between them."""
        split = self._split
        start = int(np.searchsorted(self._places, first // split))
        stop = int(np.searchsorted(self._places, last // split, side="right"))
        places, weights = self._places[start:stop] * split, self._weights[start:stop]
        begin, end = np.maximum(places, first), np.minimum(places + split, last + 1)
        size = 2 * (stop - start) + 1
        # Where each run begins, and where the last one ends.
        marks = np.empty(size + 1, dtype=np.int64)
        marks[0], marks[-1] = first, last + 1
        marks[1:-1:2], marks[2:-1:2] = begin, end
        lengths = marks[1:] - marks[:-1]
        values, slopes = (np.zeros(size, dtype=self._below.dtype) for _ in range(2))
        values[0::2] = self._below[start : stop + 1]
        values[1::2] = self._below[start:stop] + (begin - places) * weights
        slopes[1::2] = weights
        kept = lengths > 0
        return Runs(lengths=lengths[kept], values=values[kept], slopes=slopes[kept])

    def between(self, first: int, last: int) -> Histogram:
        """The buckets from the one of `first` to the one that ends at `last` or holds it, with what lies between."""
        split = self._split
        start = int(np.searchsorted(self._places, first // split))
        stop = int(np.searchsorted(self._places, -(-last // split)))
        places = self._places[start:stop]
        inside = np.minimum(places * split + split, last) - np.maximum(places * split, first)
        kept = inside > 0
        weights = (self._weights[start:stop] * inside)[kept]
        if self.total >= 2**62:
            weights = weights.astype(object)
        return Histogram(places[kept] - first // split, weights)


def differences(values: Sequence[int]) -> list[int]:
    """Each value less the one before it."""
    return [b - a for a, b in itertools.pairwise(values)]
