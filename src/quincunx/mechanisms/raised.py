"""Positions that stand out by the bucket that they are in: the score by which a bucket is cut. See ranks.md."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quincunx.noise.runs import Runs


def raised(runs: Runs, end: int, rank: Fraction, rise: int) -> Runs:
    """The same positions with another F, so that rise less its distance from the rank is their score.

    That is min(depth of the bucket, rise − |F − rank|), F as it was given. Each run is a bucket, or a stretch of empty
    ones, and `end` is F at the end of the last. All whole numbers stay whole: a flat part of a run is as far from the
    rank as an end of its bucket is from `rise` beyond it.
    """
    lengths, under, slopes = runs.lengths, runs.values, runs.slopes
    upto = np.minimum(under + lengths * slopes, end)
    # A bucket that ends at the rank, or before it, has its depth from its end; one that begins there from its start.
    before = int(np.searchsorted(upto, math.floor(rank), side="right"))
    holds = before < len(lengths) and under[before] < rank
    after = before + 1 if holds else before
    parts = [_left(lengths[:before], under[:before], slopes[:before], upto[:before], rise)]
    if holds:
        given = [int(each[before]) for each in (lengths, under, slopes, upto)]
        parts.append(_middle(given[0], given[1], given[2], given[3], rank, rise))
    parts.append(_right(lengths[after:], under[after:], slopes[after:], rise))
    found = [
        np.concatenate([np.asarray(each, dtype=like.dtype) for each in column])
        for column, like in zip(zip(*parts, strict=True), (lengths, under, slopes), strict=True)
    ]
    kept = found[0] > 0
    return Runs(lengths=found[0][kept], values=found[1][kept], slopes=found[2][kept])


def _left(lengths: NDArray[Any], under: NDArray[Any], slopes: NDArray[Any], upto: NDArray[Any], rise: int) -> Any:
    """Buckets before the rank: what lies more than `rise` before their end rises, the rest is flat."""
    flat = upto - rise
    rising = np.clip(_ceiling(flat - under, slopes), 0, lengths)
    return _paired(lengths, rising, (under, flat), (slopes, np.zeros_like(slopes)))


def _right(lengths: NDArray[Any], under: NDArray[Any], slopes: NDArray[Any], rise: int) -> Any:
    """Buckets after the rank: flat up to `rise` from their start, and then falling."""
    flat = under + rise
    level = np.clip(_ceiling(flat - under, slopes), 0, lengths)
    return _paired(lengths, level, (flat, under + level * slopes), (np.zeros_like(slopes), slopes))


def _paired(lengths: NDArray[Any], first: NDArray[Any], values: tuple[Any, Any], slopes: tuple[Any, Any]) -> Any:
    """Each run as two, `first` of its places in the one and the rest in the other."""
    first = first.astype(np.int64)
    return tuple(np.stack(pair, axis=1).reshape(-1) for pair in ((first, lengths - first), values, slopes))


def _ceiling(gap: NDArray[Any], slopes: NDArray[Any]) -> NDArray[Any]:
    """How many places of a run lie before F has risen by `gap`; where it does not rise, all or none."""
    steep = np.maximum(slopes, 1)
    # Flat runs are as flat as a plateau: which of both parts they are makes no difference but for their value.
    return np.where(slopes > 0, -(-gap // steep), np.where(gap > 0, np.int64(2**62), np.int64(0)))


def _middle(
    length: int, under: int, slope: int, upto: int, rank: Fraction, rise: int
) -> tuple[list[int], list[int], list[int]]:
    """The bucket that holds the rank: rising, flat and falling; flat where it is less deep than `rise`."""
    depth = min(rank - under, upto - rank)
    if depth >= rise:
        return [length], [under], [slope]
    first, last = rank - (rise - depth), rank + (rise - depth)
    rising = min(max(math.ceil((first - under) / slope), 0), length)
    level = min(max(math.floor((last - under) / slope) + 1, rising), length)
    # As far from the rank as the nearer end is from `rise` beyond it, on the side on which that is a whole number.
    flat = under + rise if rank - under <= upto - rank else upto - rise
    lengths = [rising, level - rising, length - level]
    return lengths, [under, flat, under + level * slope], [slope, 0, slope]
