"""Least squares over tables that are not negative and add up to their parent's: ADMM with closed-form solves.

For all children of some parents at once: minimise Σ ½·λ(z − ẑ)² over the coordinates z of x, subject to x ≥ 0, the sum
of siblings equal to their parent's table, and low ≤ Qx ≤ high for some queries. Each constraint set has a copy of x;
the solve for x is a division in the basis, each copy is projected in closed form (`fit.md`). Each parent has a step
size of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
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
    """low ≤ Qx ≤ high, for every place. groups: the query's cell of each cell; low, high: (places, cells of Q).
    diagonal: Q'Q in the basis, where it is diagonal; then the copy is of Qx, which converges much faster."""

    groups: Integers
    low: Floats
    high: Floats
    diagonal: Floats | None = None

    @property
    def rate(self) -> float:
        """The weight of a copy of Qx beside a copy of x: one over the largest of Q'Q, so that neither pulls harder."""
        return 1.0 if self.diagonal is None else 1.0 / float(self.diagonal.max())

    def sums(self, tables: Floats) -> Floats:
        """Q x."""
        order, first = _runs(self.groups.tobytes())
        return np.add.reduceat(tables if order is None else tables[:, order], first, axis=1)

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
    places = len(value)
    counts = np.diff(np.append(starts, places))
    owner = np.repeat(np.arange(len(starts)), counts)
    # A coordinate that is known exactly gets a weight far above the others; the constraints hold it exactly anyway.
    finite = np.where(np.isfinite(precision), precision, 0.0)
    top = np.maximum(finite.max(axis=1, keepdims=True), 1e-12)
    weight = np.where(np.isfinite(precision), precision, 10 * top)
    pull = weight * value
    # The first step size of a place is √(least weight · largest weight), the best for a quadratic with those ends; 1
    # where nothing was measured.
    measured = finite > 0
    least = np.where(measured, finite, np.inf).min(axis=1)
    middle = np.where(np.isfinite(least), np.sqrt(np.where(np.isfinite(least), least, 1.0) * finite.max(axis=1)), 1.0)
    tau = np.maximum.reduceat(middle, starts)
    start = basis.tables(np.where(weight > 0, value, 0.0))
    base, theta = _base(start, totals, starts, owner, mask, None)
    copies = [base, *(_first(slab, base) for slab in slabs)]
    duals = [np.zeros_like(each) for each in copies]
    # The sum over copies of A'A in coordinates: 1 for a copy of x, diag(Q'Q) for a copy of Qx.
    spread = 1.0 + sum(1.0 if slab.diagonal is None else slab.rate * slab.diagonal for slab in slabs)
    gap, step = np.inf, 0
    for step in range(1, _STEPS + 1):
        rate = tau[owner][:, None]
        wanted = copies[0] - duals[0]
        for each, copy, dual in zip(slabs, copies[1:], duals[1:], strict=True):
            wanted = wanted + (copy - dual if each.diagonal is None else each.rate * (copy - dual)[:, each.groups])
        x = basis.tables((pull + rate * basis.coordinates(wanted)) / (weight + rate * spread))
        primal, change = np.zeros(len(starts)), np.zeros(len(starts))
        for k, copy in enumerate(copies):
            slab: Slab | None = slabs[k - 1] if k else None
            seen = x if slab is None or slab.diagonal is None else slab.sums(x)
            mixed = _RELAX * seen + (1 - _RELAX) * copy + duals[k]
            if slab is None:
                new, theta = _base(mixed, totals, starts, owner, mask, theta)
            elif slab.diagonal is None:
                new = slab.projected(mixed)
            else:
                new = np.clip(mixed, slab.low, slab.high)
            copies[k], duals[k] = new, mixed - new
            primal = np.maximum(primal, np.maximum.reduceat(np.abs(seen - new).max(axis=1), starts))
            change = np.maximum(change, np.maximum.reduceat(np.abs(new - copy).max(axis=1), starts))
        gap = float(max(primal.max(), change.max()))
        if gap <= tolerance:
            break
        if step % 10 == 0 and step <= _ADAPT:
            # Residual balancing: a copy that lags asks for a larger step size, one that jumps for a smaller one.
            factor = np.where(primal > 10 * change, 2.0, np.where(change > 10 * primal, 0.5, 1.0))
            tau = tau * factor
            duals = [each / factor[owner][:, None] for each in duals]
    return Fitted(tables=copies[0], steps=step, gap=gap)


@lru_cache(maxsize=64)
def _runs(groups: bytes) -> tuple[Integers | None, Integers]:
    """Cells in order of their groups (None where they stand so already), and where each group begins."""
    found = np.frombuffer(groups, dtype=np.int64)
    order = np.argsort(found, kind="stable")
    first = np.searchsorted(found[order], np.arange(found.max() + 1))
    return (None if (order == np.arange(len(order))).all() else order), first


def _first(slab: Slab, tables: Floats) -> Floats:
    return slab.projected(tables) if slab.diagonal is None else np.clip(slab.sums(tables), slab.low, slab.high)


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
