"""Least squares over tables that are not negative and add up to their parent's: ADMM with closed-form solves.

For all children of some parents at once: minimise Σ ½·λ(z − ẑ)² over the coordinates z of x, subject to x ≥ 0, the sum
of siblings equal to their parent's table, and low ≤ Qx ≤ high for some queries. Each constraint set has a copy of x;
the solve for x is a division in the basis, each copy is projected in closed form (`fit.md`). Each parent has a step
size of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.schema import Floats, Integers

_RELAX: Final = 1.6
_STEPS: Final = 2_000
_ADAPT: Final = 400
_NEWTON: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Slab:
    """low ≤ Qx ≤ high, for every place. groups: the query's cell of each cell; low, high: (places, cells of Q)."""

    groups: Integers
    low: Floats
    high: Floats

    def sums(self, tables: Floats) -> Floats:
        """Q x."""
        found = np.zeros(self.low.shape)
        # Few groups of contiguous or strided cells: a sum for each is faster than adding cell by cell.
        for group in range(self.low.shape[1]):
            found[:, group] = tables[:, self.groups == group].sum(axis=1)
        return found

    def projected(self, tables: Floats) -> Floats:
        """The nearest tables inside: every cell of a group moves by the same amount."""
        now = self.sums(tables)
        move = (np.clip(now, self.low, self.high) - now) / np.bincount(self.groups, minlength=self.low.shape[1])
        return tables + move[:, self.groups]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """tables: (places, cells), feasible for x ≥ 0 and the sums; steps: how many; gap: the largest |x − copy| left."""

    tables: Floats
    steps: int
    gap: float


def fit(
    basis: Basis,
    *,
    value: Floats,
    precision: Floats,
    totals: Floats | None,
    starts: Integers,
    mask: NDArray[np.bool_],
    slabs: Sequence[Slab] = (),
    tolerance: float = 1e-6,
) -> Fitted:
    """value, precision: the targets ẑ and weights λ, (places, coordinates). totals: the parents' tables, (parents,
    cells), None at the root. starts: each parent's first child. mask: cells that may be occupied."""
    places, cells = value.shape
    counts = np.diff(np.append(starts, places))
    owner = np.repeat(np.arange(len(starts)), counts)
    # A coordinate that is known exactly gets a weight far above the others; the constraints hold it exactly anyway.
    finite = np.where(np.isfinite(precision), precision, 0.0)
    top = np.maximum(finite.max(axis=1, keepdims=True), 1e-12)
    weight = np.where(np.isfinite(precision), precision, 10 * top)
    pull = weight * value
    # The first step size of a place is the geometric mean of its weights; 1 where nothing was measured.
    measured = finite > 0
    middle = np.exp(np.log(np.where(measured, finite, 1.0)).sum(axis=1) / np.maximum(measured.sum(axis=1), 1))
    tau = np.maximum.reduceat(middle, starts)
    copies = 1 + len(slabs)
    start = basis.tables(np.where(weight > 0, value, 0.0))
    theta: Floats | None = None
    base, theta = _base(start, totals, starts, owner, mask, theta)
    copy = [base, *(slab.projected(base) for slab in slabs)]
    dual = [np.zeros((places, cells)) for _ in range(copies)]
    gap = np.inf
    step = 0
    for step in range(1, _STEPS + 1):
        rate = tau[owner][:, None]
        wanted = sum(c - d for c, d in zip(copy, dual, strict=True))
        x = basis.tables((pull + rate * basis.coordinates(np.asarray(wanted))) / (weight + copies * rate))
        primal = np.zeros(len(starts))
        change = np.zeros(len(starts))
        gap = 0.0
        for k in range(copies):
            mixed = _RELAX * x + (1 - _RELAX) * copy[k] + dual[k]
            if k == 0:
                new, theta = _base(mixed, totals, starts, owner, mask, theta)
            else:
                new = slabs[k - 1].projected(mixed)
            dual[k] = mixed - new
            off, moved = np.abs(x - new).max(axis=1), np.abs(new - copy[k]).max(axis=1)
            primal = np.maximum(primal, np.maximum.reduceat(off, starts))
            change = np.maximum(change, np.maximum.reduceat(moved, starts))
            copy[k] = new
        gap = float(max(primal.max(), change.max()))
        if gap <= tolerance:
            break
        if step % 10 == 0 and step <= _ADAPT:
            # Residual balancing: a copy that lags asks for a larger step size, one that jumps for a smaller one.
            factor = np.where(primal > 5 * change, 2.0, np.where(change > 5 * primal, 0.5, 1.0))
            tau = tau * factor
            dual = [each / factor[owner][:, None] for each in dual]
    return Fitted(tables=copy[0], steps=step, gap=gap)


def _base(
    tables: Floats,
    totals: Floats | None,
    starts: Integers,
    owner: Integers,
    mask: NDArray[np.bool_],
    theta: Floats | None,
) -> tuple[Floats, Floats | None]:
    """The nearest tables that are not negative and, below the root, add up; with the shifts, to start from next."""
    if totals is None:
        return np.where(mask, np.maximum(tables, 0.0), 0.0), None
    theta = simplex_shift(tables, totals, starts, owner, theta)
    found = np.maximum(tables - theta[owner], 0.0)
    # Parents' empty cells are exactly empty; rounding elsewhere is put right by the largest child.
    found[(totals == 0)[owner]] = 0.0
    return found, theta


def simplex_shift(
    tables: Floats, totals: Floats, starts: Integers, owner: Integers, theta: Floats | None = None
) -> Floats:
    """θ with Σ over siblings of max(v − θ, 0) = total, for every parent and cell.

    Newton on a convex, falling, piecewise linear function: after one step θ is at most the root, then it only rises.
    """
    counts = np.diff(np.append(starts, len(tables)))[:, None]
    all_in = (np.add.reduceat(tables, starts, axis=0) - totals) / counts
    if theta is None:
        theta = all_in
    limit = 1e-13 * max(1.0, float(np.abs(all_in).max(initial=0.0)))
    for _ in range(_NEWTON):
        above = tables - theta[owner]
        active = above > 0
        number = np.add.reduceat(active, starts, axis=0, dtype=np.float64)
        excess = np.add.reduceat(np.where(active, above, 0.0), starts, axis=0) - totals
        with np.errstate(divide="ignore", invalid="ignore"):
            better = np.where(number > 0, theta + excess / number, np.where(totals > 0, all_in, theta))
        moved = float(np.abs(better - theta).max(initial=0.0))
        theta = better
        if moved <= limit:
            break
    return theta
