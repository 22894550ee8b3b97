"""What is looked at in an output: its numbers, how they are combined, and how finely they are written.

The lowest set bit of a floating-point number gives away noise that was added in floating point: from one input the
output can be a finer number than from the other (Mironov 2012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

import numpy as np

from quincunx.audit.blackbox.cells import Bins, Cells, Feature, bins, joint, labels
from quincunx.audit.blackbox.outputs import Batch, Floats

_FINE: Final = 256
_COARSE: Final = 24
# How many columns are compared with their neighbour, and are taken together as combinations.
_DIFFERENCES: Final = 16
_JOINT: Final = 8
# Beyond this many typical deviations a value is far.
_FAR: Final = 50.0


def partitions(names: tuple[str, ...], first: Batch, second: Batch) -> list[Cells]:
    """Every way to cut outputs into cells that is worth a look, the plainest first; learned from both inputs."""
    with np.errstate(all="ignore"):
        return list(_partitions(names, first, second))


def _partitions(names: tuple[str, ...], first: Batch, second: Batch) -> Iterator[Cells]:
    both = Batch(np.concatenate((first.rows, second.rows)), _joined(first, second))
    if both.labels:
        yield labels(both)
    columns = [bins(name, _column(i), both.rows[:, i], _FINE) for i, name in enumerate(names)]
    for i, each in enumerate(columns):
        yield from (each, *_coarser(each, both.rows[:, i]), *_granularity(each.name, i, both.rows[:, i]))
    for name, feature in _combinations(names, first, second, columns):
        values = feature(both)
        fine = bins(name, feature, values, _FINE)
        yield from (fine, *_coarser(fine, values))
    together = joint(tuple(columns), both) if 2 <= len(names) <= _JOINT else None
    if together is not None:
        yield together


def _joined(first: Batch, second: Batch) -> list[object] | tuple[()]:
    if not first.labels and not second.labels:
        return ()
    none: list[object] = [None]
    return [*(first.labels or none * len(first)), *(second.labels or none * len(second))]


def _coarser(fine: Bins, values: Floats) -> list[Bins]:
    # Few samples order few cells better than many.
    return [] if fine.listed else [bins(fine.name, fine.feature, values, _COARSE)]


def _column(i: int) -> Feature:
    return lambda batch: batch.rows[:, i]


def _granularity(name: str, i: int, values: Floats) -> Iterator[Bins]:
    known = values[np.isfinite(values)]
    if not len(known) or not np.any(known != np.floor(known)):
        return
    for words, relative in (("log2 of the lowest set bit of", False), ("trailing zero bits of", True)):
        yield bins(f"{words} {name}", _bits(i, relative), bits(values, relative=relative), _FINE)


def _bits(i: int, relative: bool) -> Feature:
    return lambda batch: bits(batch.rows[:, i], relative=relative)


def bits(values: Floats, *, relative: bool) -> Floats:
    """The exponent of the lowest set bit of each number, or (`relative`) how many zero bits its 53 bits end with.

    NaN for 0 and for what is not finite.
    """
    usable = np.isfinite(values) & (values != 0)
    mantissa, exponent = np.frexp(np.where(usable, values, 1.0))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    # The lowest set bit alone is a power of two: its exponent is exact.
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1.0
    return np.where(usable, zeros if relative else exponent - 53 + zeros, np.nan)


def _combinations(
    names: tuple[str, ...], first: Batch, second: Batch, columns: list[Bins]
) -> Iterator[tuple[str, Feature]]:
    """Features of several columns: their sum, differences of neighbours, a direction, and the evidence of all."""
    count = len(names)
    if count < 2:
        return
    yield "the sum of the output", _sum
    numbers = [i for i, name in enumerate(names) if name.startswith("output[")]
    for i, j in list(pairwise(numbers))[:_DIFFERENCES]:
        yield f"{names[i]} − {names[j]}", _difference(i, j)
    direction = _direction(first.rows, second.rows)
    if direction is not None:
        yield "a linear combination of the output", direction
    yield "the evidence of all coordinates together", _evidence(first, second, columns)


def _difference(i: int, j: int) -> Feature:
    return lambda batch: batch.rows[:, i] - batch.rows[:, j]


def _direction(first: Floats, second: Floats) -> Feature | None:
    """Fisher's linear discriminant: the direction in which the means differ most, measured by the joint spread."""
    both = np.concatenate((first, second))
    both = np.where(np.isfinite(both), both, np.nan)
    filled = np.where(np.isnan(both).all(axis=0), 0.0, both)
    centre = np.nanmedian(filled, axis=0)
    spread = np.nanmedian(np.abs(filled - centre), axis=0)
    width = np.where(spread > 0, spread, 1.0)

    def scaled(values: Floats, i: int) -> Floats:
        # Far values count as far, not as infinitely far: one of them must not turn the direction.
        return np.asarray(np.clip(np.nan_to_num((values - centre[i]) / width[i]), -_FAR, _FAR))

    one, two = (np.column_stack([scaled(each[:, i], i) for i in range(len(centre))]) for each in (first, second))
    apart = one.mean(axis=0) - two.mean(axis=0)
    within = np.cov(one.T) + np.cov(two.T) + 1e-9 * np.eye(len(apart))
    weights = np.linalg.lstsq(within, apart, rcond=None)[0]
    return _weighted(weights.tolist(), scaled) if np.any(weights) else None


def _weighted(weights: list[float], scaled: Callable[[Floats, int], Floats]) -> Feature:
    def read(batch: Batch) -> Floats:
        # Column by column, not as a matrix product, whose rounding may depend on an output's place in the batch.
        total = np.zeros(len(batch))
        for i, weight in enumerate(weights):
            total += weight * scaled(batch.rows[:, i], i)
        return total

    return read


def _sum(batch: Batch) -> Floats:
    total = np.zeros(len(batch))
    for column in batch.rows.T:
        total += np.where(np.isnan(column), 0.0, column)
    return total


def _evidence(first: Batch, second: Batch, columns: list[Bins]) -> Feature:
    """The sum over columns of the estimated log-ratio of each: the likelihood ratio where columns are independent."""
    both = np.concatenate((first.rows, second.rows))
    coarse = [bins(each.name, each.feature, both[:, i], _COARSE) for i, each in enumerate(columns)]
    ratios = [np.log((each.counts(first) + 0.5) / (each.counts(second) + 0.5)) for each in coarse]

    def read(batch: Batch) -> Floats:
        total = np.zeros(len(batch))
        for each, ratio in zip(coarse, ratios, strict=True):
            total += ratio[each.codes(batch)]
        return total

    return read
