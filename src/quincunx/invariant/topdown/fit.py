"""Least squares over tables that are not negative and add up to their parent's: ADMM with closed-form solves.

For all children of some parents at once: minimise Σ ½·λ(z − ẑ)² over the coordinates z of x, subject to x ≥ 0, the sum
of siblings equal to their parent's table, and low ≤ Qx ≤ high for some queries. Each constraint set has a copy of x;
the solve for x is a division in the basis, each copy is projected in closed form (`fit.md`). Each parent has a step
size of its own, and its steps are extrapolated from those before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.extrapolate import Extrapolation
from quincunx.invariant.topdown.families import Families
from quincunx.invariant.topdown.rounding import Weighed
from quincunx.invariant.topdown.schema import Floats, Integers

_RELAX: Final = 1.6
_STEPS: Final = 2_000
_ADAPT: Final = 400
_NEWTON: Final = 60
# Extrapolated every so often, as long as step sizes may change; after that the plain iteration converges by theorem.
_EVERY: Final = 5


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
        return _summed(self.groups, tables)

    def nearest(self, state: Floats, _tau: Floats) -> Floats:
        """The nearest copy inside: of Qx by clipping; of x by moving every cell of a group by the same amount."""
        if self.diagonal is not None:
            return np.clip(state, self.low, self.high)
        tables, now = state, self.sums(state)
        move = (np.clip(now, self.low, self.high) - now) / np.bincount(self.groups, minlength=self.low.shape[1])
        return tables + move[:, self.groups]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """One more thing that is known about each place, with noise: Σ weights·x is near `value`, with `variance`. It is a
    term ½(Σ weights·x − value)²/variance of what is minimised; value, variance: one number for each place."""

    weights: Floats
    value: Floats
    variance: Floats
    diagonal: None = None
    rate: float = 1.0

    def part(self, first: int, last: int) -> Pull:
        """Of places first … last − 1."""
        return replace(self, value=self.value[first:last], variance=self.variance[first:last])

    def nearest(self, state: Floats, tau: Floats) -> Floats:
        """The minimum of the term plus ½τ times the squared distance from the state: a step along the weights."""
        gap = state @ self.weights - self.value
        with np.errstate(invalid="ignore"):
            step = gap / (float(self.weights @ self.weights) + self.variance * tau[:, 0])
        return np.asarray(state - step[:, None] * self.weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """A measured query that is not diagonal in the basis: a term ½|Qx − value|²/variance. groups: the query's cell of
    each cell; value: (places, cells of Q)."""

    groups: Integers
    value: Floats
    variance: float
    diagonal: None = None
    rate: float = 1.0

    def part(self, first: int, last: int) -> Margin:
        """Of places first … last − 1."""
        return replace(self, value=self.value[first:last])

    def nearest(self, state: Floats, tau: Floats) -> Floats:
        """The minimum of the term plus ½τ times the squared distance from the state: the cells of a group move by the
        same amount."""
        sizes = np.bincount(self.groups, minlength=self.value.shape[1])
        step = (_summed(self.groups, state) - self.value) / (sizes + self.variance * tau)
        return np.asarray(state - step[:, self.groups])


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
    slabs: Sequence[Slab | Weighed | Pull | Margin] = (),
    tolerance: float = 1e-6,
) -> Fitted:
    """value, precision: the targets ẑ and weights λ, (places, coordinates). totals: the parents' tables, (parents,
    cells), None at the root. starts: each parent's first child. mask: cells that may be occupied."""
    families = Families.of(starts, len(value))
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
    tau = families.largest(middle)
    start = basis.tables(np.where(weight > 0, value, 0.0))
    # A state is a copy with its dual added: the copy is the state's projection, the dual what that takes away.
    states = [start, *(start if slab.diagonal is None else slab.sums(start) for slab in slabs)]
    # The sum over copies of A'A in coordinates: 1 for a copy of x, diag(Q'Q) for a copy of Qx.
    spread = 1.0 + sum(1.0 if slab.diagonal is None else slab.rate * slab.diagonal for slab in slabs)
    # Distances weigh a copy of Qx as the iteration does.
    memory = Extrapolation(families, [1.0, *(1.0 if slab.diagonal is None else slab.rate for slab in slabs)])
    gap, step, theta = np.inf, 0, None
    copies: list[Floats] = []
    for step in range(1, _STEPS + 1):
        before, rate = copies, families.spread(tau)[:, None]
        base, theta = _base(states[0], totals, families, mask, theta)
        copies = [base, *(slab.nearest(state, rate) for slab, state in zip(slabs, states[1:], strict=True))]
        wanted = 2 * base - states[0]
        for each, copy, state in zip(slabs, copies[1:], states[1:], strict=True):
            back = 2 * copy - state
            wanted += back if each.diagonal is None else (each.rate * back)[:, each.groups]
        x = basis.tables((pull + rate * basis.coordinates(wanted)) / (weight + rate * spread))
        moves = [x - base]
        for slab, copy in zip(slabs, copies[1:], strict=True):
            moves.append((x if slab.diagonal is None else slab.sums(x)) - copy)
        primal = families.most(moves)
        change = families.most([one - other for one, other in zip(copies, before, strict=True)] if before else moves)
        gap = float(max(primal.max(), change.max()))
        if gap <= tolerance:
            break
        factor = np.ones(len(tau))
        if step % 10 == 0 and step <= _ADAPT:
            # Residual balancing: a copy that lags asks for a larger step size, one that jumps for a smaller one.
            factor = np.where(primal > 10 * change, 2.0, np.where(change > 10 * primal, 0.5, 1.0))
        if (factor != 1).any():
            tau = tau * factor
            scale = families.spread(factor)[:, None]
            states = [copy + (state - copy) / scale for copy, state in zip(copies, states, strict=True)]
            memory.forget(factor != 1)
        else:
            moves = [_RELAX * move for move in moves]
            states = memory.step(states, moves, jump=step % _EVERY == 0 and step <= _ADAPT)
    return Fitted(tables=copies[0], steps=step, gap=gap)


def _summed(groups: Integers, tables: Floats) -> Floats:
    order, first = _runs(groups.tobytes())
    return np.asarray(np.add.reduceat(tables if order is None else tables[:, order], first, axis=1))


@lru_cache(maxsize=64)
def _runs(groups: bytes) -> tuple[Integers | None, Integers]:
    """Cells in order of their groups (None where they stand so already), and where each group begins."""
    found = np.frombuffer(groups, dtype=np.int64)
    order = np.argsort(found, kind="stable")
    first = np.searchsorted(found[order], np.arange(found.max() + 1))
    return (None if (order == np.arange(len(order))).all() else order), first


def _base(
    tables: Floats, totals: Floats | None, families: Families, mask: NDArray[np.bool_], theta: Floats | None
) -> tuple[Floats, Floats | None]:
    """The nearest tables that are not negative and, below the root, add up; with the shifts, to start from next."""
    if totals is None:
        return np.where(mask, np.maximum(tables, 0.0), 0.0), None
    theta = simplex_shift(tables, totals, families, theta)
    # Parents' empty cells are exactly empty.
    found = tables - families.spread(np.where(totals == 0, np.inf, theta))
    return np.maximum(found, 0.0, out=found), theta


def simplex_shift(tables: Floats, totals: Floats, families: Families, theta: Floats | None = None) -> Floats:
    """θ with Σ over siblings of max(v − θ, 0) = total, for every parent and cell.

    Newton on a convex, falling, piecewise linear function: after one step θ is at most the root, then it only rises.
    """
    all_in = (families.sums(tables) - totals) / families.counts[:, None]
    if theta is None:
        theta = all_in
    limit = 1e-13 * max(1.0, float(np.abs(all_in).max(initial=0.0)))
    for _ in range(_NEWTON):
        above = tables - families.spread(theta)
        number = families.sums((above > 0).astype(np.float64))
        excess = families.sums(np.maximum(above, 0.0, out=above)) - totals
        with np.errstate(divide="ignore", invalid="ignore"):
            better = np.where(number > 0, theta + excess / number, np.where(totals > 0, all_in, theta))
        moved = float(np.abs(better - theta).max(initial=0.0))
        theta = better
        if moved <= limit:
            break
    return theta
