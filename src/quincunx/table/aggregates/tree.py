"""Counts of bins read from a tree of noisy counts by least squares, with their exact errors. See tree.md."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.mechanisms import LIMIT, CountTree, levels_of
from quincunx.table.aggregates.estimate import Floats, Noise, Numbers
from quincunx.table.aggregates.reach import quantile

# A coefficient below this part of the largest is taken as this part of it, which only widens an interval.
_LEAST: Final = 2.0**-10
# Coefficients are taken as multiples of a part, rounded up; what arithmetic on floats loses is far below another part.
_ALIKE: Final = 2.0**40
_LOST: Final = 1e-11


@dataclass(frozen=True, slots=True, kw_only=True)
class Squares:
    """Least squares over a tree, in rationals. A node is numbered as it stands in an answer, the bins first.

    children: of each node. up: for each node with children, S, the variance of the sum of what is known of them, in
    units of the variance of one count. spread: what is known of each node from itself and what is below it.
    """

    levels: tuple[int, ...]
    branching: int
    children: tuple[tuple[int, ...], ...]
    up: tuple[Fraction, ...]
    spread: tuple[Fraction, ...]


@lru_cache(maxsize=64)
def squares(bins: int, branching: int) -> Squares:
    """The weights of both passes, which the shape of the tree alone decides."""
    levels = levels_of(bins, branching)
    children: list[tuple[int, ...]] = [()] * bins
    up, spread = [Fraction(0)] * bins, [Fraction(1)] * bins
    below = 0
    for size, count in pairwise(levels):
        for at in range(count):
            first = below + at * branching
            mine = tuple(range(first, min(first + branching, below + size)))
            total = sum((spread[each] for each in mine), Fraction(0))
            children.append(mine)
            up.append(total)
            spread.append(total / (total + 1))
        below += size
    return Squares(levels=levels, branching=branching, children=tuple(children), up=tuple(up), spread=tuple(spread))


def fitted(counts: NDArray[Any], shape: Squares) -> list[Any]:
    """The least-squares count of each bin, from one exact number or array of them for each node: two passes."""
    upward = list(counts)
    for node, mine in enumerate(shape.children):
        if mine:
            total, below = shape.up[node], sum(upward[each] for each in mine)
            # The count itself and the sum of those below, by their precision.
            upward[node] = upward[node] * (total / (total + 1)) + below * (1 / (total + 1))
    final = list(upward)
    for node in reversed(range(len(shape.children))):
        mine = shape.children[node]
        if mine:
            missing = final[node] - sum(upward[each] for each in mine)
            for each in mine:
                final[each] = upward[each] + missing * (shape.spread[each] / shape.up[node])
    return final[: shape.levels[0]]


@lru_cache(maxsize=64)
def coefficients(bins: int, branching: int) -> tuple[tuple[Fraction, ...], ...]:
    """For each bin, by how much each noisy count moves its least-squares count."""
    shape = squares(bins, branching)
    nodes = len(shape.children)
    unit = np.array([[Fraction(int(i == j)) for j in range(nodes)] for i in range(nodes)], dtype=object)
    return tuple(tuple(row) for row in fitted(unit, shape))


@lru_cache(maxsize=64)
def each_bin(bins: int, branching: int) -> Floats:
    """The same as floats, each the nearest: one row for each bin."""
    return np.array(coefficients(bins, branching), dtype=np.float64)


@lru_cache(maxsize=64)
def up_to(bins: int, branching: int) -> Floats:
    """The coefficients of the count of each bin and all before it."""
    return np.array(np.cumsum(np.array(coefficients(bins, branching), dtype=object), axis=0), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """Exact least-squares counts for each group, in lattice units of the noise.

    each: of each bin; up_to: of it and all before it. settled: whether no count was clamped.
    """

    each: NDArray[Any]
    up_to: NDArray[Any]
    settled: NDArray[np.bool_]


def fitted_counts(numbers: Numbers, tree: CountTree) -> Fitted:
    """The counts of each group, whole numbers or Fractions."""
    return _fitted_counts(numbers.tobytes(), numbers.shape, tree.bins, tree.branching)


@lru_cache(maxsize=4)
def _fitted_counts(numbers: bytes, shape: tuple[int, int], bins: int, branching: int) -> Fitted:
    given = np.frombuffer(numbers, dtype=np.int64).reshape(shape)
    settled = np.asarray((np.abs(given) < LIMIT).all(axis=1))
    each = given.astype(object)
    if len(levels_of(bins, branching)) > 1:
        each = np.array(fitted(each.T, squares(bins, branching)), dtype=object).T.reshape(shape[0], bins)
    return Fitted(each=each, up_to=np.cumsum(each, axis=1), settled=settled)


def half_width(row: Floats, noise: Noise, risk: Fraction) -> float:
    """A q with P(|Σ c_j·K_j| > q) ≤ risk, in lattice units of the noise; the least where one coefficient is not 0."""
    sizes = np.abs(row[row != 0])
    if len(sizes) == 1:
        return math.nextafter(float(sizes[0]) * noise.error(risk), math.inf)
    return norm_of(row, noise, risk)


def norm_of(row: Floats, noise: Noise, risk: Fraction) -> float:
    """The same by a q that is at least a norm of the coefficients, and so below the straight line between two rows."""
    sizes = np.abs(row[row != 0])
    margin = float(sizes.sum())
    if noise.norm == 1:
        # Widened a little, so that equal ones are found to be.
        sizes = np.ceil(np.maximum(sizes, sizes.max() * _LEAST) * _ALIKE) / _ALIKE
        scales = Counter(sizes.tolist())
        one_sided = quantile(tuple(sorted(scales.items())), risk / 2)
        return (float(noise.spread) * one_sided + margin) * (1 + _LOST)
    if noise.spread < 1:
        # Below one lattice unit the bell curve is no approximation; each noise at its own share of the risk always is.
        return margin * noise.error(risk / len(row)) * (1 + _LOST)
    z = -NormalDist().inv_cdf(float(risk) / 2) * (1 + 1e-9)
    return (z * math.sqrt(float(np.sum(sizes**2)) * noise.spread) + margin) * (1 + _LOST)


def standard_error(row: Floats, noise: Noise) -> float:
    """The standard deviation of Σ c_j·K_j, in lattice units of the noise."""
    return math.sqrt(float(np.sum(row**2)) * noise.variance)
