"""Positions that stand out by the bucket that they are in: the score by which a bucket is cut. See ranks.md."""

from __future__ import annotations

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
    before = int(np.searchsorted(upto, rank.numerator // rank.denominator, side="right"))
    holds = before < len(lengths) and int(under[before]) * rank.denominator < rank.numerator
    after = before + holds
    # Two parts of every run, and three of the one that holds the rank.
    found = [np.zeros(2 * len(lengths) + holds, dtype=each.dtype) for each in (lengths, under, slopes)]
    left, right = [each[: 2 * before] for each in found], [each[2 * before + 3 * holds :] for each in found]
    # Before the rank what lies more than `rise` before the end of its bucket rises, and the rest is flat.
    flat = upto[:before] - rise
    rising = _places(flat - under[:before], lengths[:before], slopes[:before])
    left[0][0::2], left[0][1::2] = rising, lengths[:before] - rising
    left[1][0::2], left[1][1::2] = under[:before], flat
    left[2][0::2] = slopes[:before]
    # After it buckets are flat up to `rise` from their start, and then fall.
    level = _places(np.full_like(under[after:], rise), lengths[after:], slopes[after:])
    right[0][0::2], right[0][1::2] = level, lengths[after:] - level
    right[1][0::2], right[1][1::2] = under[after:] + rise, under[after:] + level * slopes[after:]
    right[2][1::2] = slopes[after:]
    if holds:
        length, start, slope, stop = (int(each[before]) for each in (lengths, under, slopes, upto))
        for column, three in zip(found, _middle(length, start, slope, stop, rank, rise), strict=True):
            column[2 * before : 2 * before + 3] = three
    kept = found[0] > 0
    return Runs(lengths=found[0][kept], values=found[1][kept], slopes=found[2][kept])


def _places(gap: NDArray[Any], lengths: NDArray[np.int64], slopes: NDArray[Any]) -> NDArray[np.int64]:
    """How many places of each run come before F has risen by `gap`; where it does not rise, all or none."""
    # Flat runs have a slope of 0, and a gap that is `rise` or less than 0.
    steps = np.where(slopes > 0, -(-gap // np.maximum(slopes, 1)), np.where(gap > 0, lengths, 0))
    return np.minimum(np.maximum(steps, 0), lengths).astype(np.int64)


def _middle(
    length: int, under: int, slope: int, upto: int, rank: Fraction, rise: int
) -> tuple[list[int], list[int], list[int]]:
    """The bucket that holds the rank: rising, flat and falling; flat where it is less deep than `rise`."""
    top, bottom = rank.numerator, rank.denominator
    nearer = 2 * top <= (under + upto) * bottom
    depth = top - under * bottom if nearer else upto * bottom - top
    if depth >= rise * bottom:
        return [length, 0, 0], [under, 0, 0], [slope, 0, 0]
    # As far from the rank as the nearer end is from `rise` beyond it, on the side on which that is a whole number.
    if nearer:
        flat = under + rise
        rising, level = _above(2 * top - (2 * under + rise) * bottom, slope * bottom), rise // slope + 1
    else:
        flat = upto - rise
        rising = _above(upto - rise - under, slope)
        level = (2 * top + (rise - upto - under) * bottom) // (slope * bottom) + 1
    rising = min(max(rising, 0), length)
    level = min(max(level, rising), length)
    return [rising, level - rising, length - level], [under, flat, under + level * slope], [slope, 0, slope]


def _above(number: int, by: int) -> int:
    return -(-number // by)
