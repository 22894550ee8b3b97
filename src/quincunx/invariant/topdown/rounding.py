"""From real tables to whole ones: one linear program for each parent, integral where constraints are laminar.

x = floor + b with 0 ≤ b ≤ 1, siblings' cells add up to the parent's exactly, every child's total is the floor or the
ceiling of its real total, and the nearest of all these is chosen (`rounding.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from quincunx.invariant.topdown.schema import Floats, Integers

_TOTAL_WEIGHT: Final = 10.0
_NEAR: Final = 1e-7
_BRANCHES: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """low ≤ Σ of a child's cells ≤ high. child: its number among its siblings. firm: an invariant, never relaxed.
    weights: of the cells in the sum, where they are not all 1."""

    child: int
    cells: Integers
    low: float
    high: float
    firm: bool
    weights: Floats | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """low ≤ Σ weights·x ≤ high over all cells of each place of a level; low, high: one number for each place. Used as a
    copy in the fit like a slab, and as a row that is always kept in the rounding."""

    weights: Floats
    low: Floats
    high: Floats
    diagonal: None = None
    rate: float = 1.0

    def part(self, first: int, last: int) -> Weighed:
        """Of places first … last − 1."""
        return replace(self, low=self.low[first:last], high=self.high[first:last])

    def nearest(self, state: Floats, _tau: Floats) -> Floats:
        """The nearest tables inside: along the weights."""
        now = state @ self.weights
        move = (np.clip(now, self.low, self.high) - now) / float(self.weights @ self.weights)
        return np.asarray(state + move[:, None] * self.weights)

    def row(self, place: int) -> Row:
        """Of one place, for a program of its own."""
        cells = np.flatnonzero(self.weights)
        ends = float(np.ceil(self.low[place] - 1e-9)), float(np.floor(self.high[place] + 1e-9))
        return Row(child=0, cells=cells, low=ends[0], high=ends[1], firm=True, weights=self.weights[cells])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ways:
    """What every node of the first level keeps besides: one of several sets of weighted sums, that of the nearest
    table. common: what the fit, which knows no alternatives, takes of them."""

    common: tuple[Weighed, ...]
    either: tuple[tuple[Weighed, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounded:
    """tables: whole numbers. fractional: how many variables of the linear program were not whole. wide: whether cells
    had to move by more than rounding. relaxed: by how much curators' bounds were not kept."""

    tables: Integers
    fractional: int
    wide: bool
    relaxed: float


class UnsolvedError(Exception):
    """A program that was neither solved nor found infeasible. Whoever asked has another way, so nobody sees it."""


class Solver:
    """One HiGHS instance, for one thread."""

    def __init__(self) -> None:
        import highspy

        self._module = highspy
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._highs.setOptionValue("output_flag", False)
        self._highs.setOptionValue("threads", 1)
        # A number of branches, not of seconds: the same result on every machine.
        self._highs.setOptionValue("mip_max_nodes", _BRANCHES)
        self.proved = True

    def solve(
        self,
        cost: Floats,
        upper: Floats,
        rows: tuple[Integers, Integers, Floats, Floats, Floats],
        *,
        whole: NDArray[np.bool_] | None = None,
        presolve: bool = False,
    ) -> Floats | None:
        """Minimise cost·v over 0 ≤ v ≤ upper and the rows (starts, columns, values, low, high); None if infeasible.
        whole: variables that must be whole; such a search looks at a limited number of branches, and `proved` says
        whether that was enough to know that nothing is nearer. presolve: reduce the program first, which pays
        where it is large."""
        module, starts, columns, values, low, high = self._module, *rows
        lp = module.HighsLp()
        lp.num_col_, lp.num_row_ = len(cost), len(low)
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, np.zeros(len(cost)), upper
        lp.row_lower_, lp.row_upper_ = low, high
        lp.a_matrix_.format_ = module.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = starts, columns, values
        if whole is not None:
            kinds = (module.HighsVarType.kContinuous, module.HighsVarType.kInteger)
            lp.integrality_ = [kinds[each] for each in whole.tolist()]
        status = None
        # A second way for a program that the first gives up.
        for reduced, method in ((presolve or whole is not None, "choose"), (True, "ipm")):
            self._highs.setOptionValue("presolve", "on" if reduced else "off")
            self._highs.setOptionValue("solver", method)
            self._highs.clearSolver()
            self._highs.passModel(lp)
            self._highs.run()
            status = self._highs.getModelStatus()
            self.proved = status == module.HighsModelStatus.kOptimal
            limited = status == module.HighsModelStatus.kSolutionLimit
            if self.proved or (limited and self._highs.getInfo().primal_solution_status == 2):
                return np.asarray(self._highs.getSolution().col_value)
            if status in (module.HighsModelStatus.kInfeasible, module.HighsModelStatus.kUnboundedOrInfeasible):
                return None
        raise UnsolvedError(str(status))


def rounded(
    solver: Solver, tables: Floats, totals: Integers | None, rows: Sequence[Row], *, mask: NDArray[np.bool_]
) -> Rounded | None:
    """Whole tables near `tables` (children, cells) that add up to `totals` and satisfy the rows; None where no tables
    do. mask: cells that may be occupied."""
    base = np.floor(tables + _NEAR)
    fraction = np.clip(tables - base, 0.0, 1.0)
    if totals is not None:
        base = np.where(totals == 0, 0.0, base)
        fraction = np.where(totals == 0, 0.0, fraction)
    try:
        found = _narrow(solver, base, fraction, totals, rows)
        if found is not None and found[1] == 0:
            return Rounded(tables=found[0], fractional=0, wide=False, relaxed=0.0)
        wide = _wide(solver, base, fraction, totals, rows, mask)
    except UnsolvedError:
        return _largest(base, fraction, totals, mask) if not any(row.firm for row in rows) else None
    if wide is None:
        return None
    fractional = 0 if found is None else found[1]
    return Rounded(tables=wide[0], fractional=fractional + wide[1], wide=True, relaxed=wide[2])


def _largest(base: Floats, fraction: Floats, totals: Integers | None, mask: NDArray[np.bool_]) -> Rounded:
    """By largest remainders, cell by cell: not the nearest totals, and no program. What is wanting or left over goes
    round the children in the order of their fractions."""
    found = np.where(mask, np.rint(base + fraction), 0.0)
    if totals is not None:
        found = base.copy()
        order = np.argsort(-fraction, axis=0, kind="stable")
        for cell in range(base.shape[1]):
            rest = int(totals[cell] - found[:, cell].sum())
            whole, more = divmod(max(rest, 0), len(found))
            found[:, cell] += whole
            found[order[:more, cell], cell] += 1
            for child in order[::-1, cell] if rest < 0 else ():
                taken = min(found[child, cell], -rest)
                found[child, cell], rest = found[child, cell] - taken, rest + int(taken)
    return Rounded(tables=found.astype(np.int64), fractional=0, wide=True, relaxed=0.0)


def _narrow(
    solver: Solver, base: Floats, fraction: Floats, totals: Integers | None, rows: Sequence[Row]
) -> tuple[Integers, int] | None:
    """Every cell to its floor or ceiling; None where that is impossible."""
    children, cells = base.shape
    free = fraction > _NEAR
    number = int(free.sum())
    index = np.full((children, cells), -1, dtype=np.int64)
    index[free] = np.arange(number)
    made = Rows()
    if totals is not None:
        rest = totals - base.sum(axis=0)
        if (rest[~free.any(axis=0)] != 0).any():
            return None
        cell, child = np.nonzero(free.T)
        made.block(cell, index[child, cell], np.ones(number), rest)
    whole = fraction.sum(axis=1)
    low = np.floor(whole + _NEAR)
    part = np.clip(whole - low, 0.0, 1.0)
    totalled = np.flatnonzero(free.any(axis=1))
    child, cell = np.nonzero(free)
    # Σ of a child's cells − its own 0–1 variable = the floor of its total.
    made.block(
        np.concatenate([child, totalled]),
        np.concatenate([index[child, cell], number + np.arange(len(totalled))]),
        np.concatenate([np.ones(number), -np.ones(len(totalled))]),
        low,
    )
    for row in rows:
        own = index[row.child, row.cells]
        weights = np.ones(len(own)) if row.weights is None else row.weights
        known = float(weights @ base[row.child, row.cells])
        made.add(own[own >= 0], row.low - known, row.high - known, weights[own >= 0])
    if made.impossible:
        return None
    cost = np.concatenate([1 - 2 * fraction[free], _TOTAL_WEIGHT * (1 - 2 * part[totalled])])
    found = np.zeros(0) if not len(cost) else solver.solve(cost, np.ones(len(cost)), made.arrays())
    if found is None:
        return None
    near = np.rint(found)
    fractional = int((np.abs(found - near) > 1e-6).sum())
    result = base.copy()
    result[free] += near[:number]
    return result.astype(np.int64), fractional


def _wide(
    solver: Solver,
    base: Floats,
    fraction: Floats,
    totals: Integers | None,
    rows: Sequence[Row],
    mask: NDArray[np.bool_],
) -> tuple[Integers, int, float] | None:
    """Cells may move by any whole amount, at the price of the distance; curators' rows may give way at a high price.

    |x − x*| of a whole x is its own chord: slope 1 − 2·fraction between floor and ceiling, and 1 beyond them.
    """
    children, cells = base.shape
    size = children * cells
    open_ = np.repeat((mask if totals is None else totals > 0)[None, :], children, axis=0)
    cost = [1 - 2 * fraction.reshape(-1), np.ones(size), np.ones(size)]
    upper = [np.where(open_, 1.0, 0.0).reshape(-1), np.where(open_, np.inf, 0.0).reshape(-1), base.reshape(-1)]
    index = np.arange(size).reshape(children, cells)
    soft = [row for row in rows if not row.firm]
    # One unit of a row is worth more than moving one person along any cycle, which uses each variable at most once.
    cost.append(np.full(2 * len(soft), 10.0 + 4 * size))
    upper.append(np.full(2 * len(soft), np.inf))
    made = Rows()
    if totals is not None:
        for cell in range(cells):
            rest = totals[cell] - base[:, cell].sum()
            made.add(_three(index[:, cell], size), rest, rest, _signs(children))
    given = 0
    for row in rows:
        columns, signs = _three(index[row.child, row.cells], size), _signs(len(row.cells))
        weights = np.ones(len(row.cells)) if row.weights is None else row.weights
        known, signs = float(weights @ base[row.child, row.cells]), signs * np.tile(weights, 3)
        if not row.firm:
            columns = np.append(columns, [3 * size + 2 * given, 3 * size + 2 * given + 1])
            signs, given = np.append(signs, [1.0, -1.0]), given + 1
        made.add(columns, row.low - known, row.high - known, signs)
    costs, uppers = np.concatenate(cost), np.concatenate(upper)
    found = solver.solve(costs, uppers, made.arrays())
    fractional = 0 if found is None else int((np.abs(found - np.rint(found)) > 1e-6).sum())
    if fractional:
        found = solver.solve(costs, uppers, made.arrays(), whole=np.ones(len(costs), dtype=np.bool_))
    if found is None:
        return None
    near = np.rint(found)
    change = (near[:size] + near[size : 2 * size] - near[2 * size : 3 * size]).reshape(children, cells)
    return (base + change).astype(np.int64), fractional, float(near[3 * size :].sum())


def _three(columns: Integers, size: int) -> Integers:
    return np.concatenate([columns, columns + size, columns + 2 * size])


def _signs(count: int) -> Floats:
    return np.concatenate([np.ones(2 * count), -np.ones(count)])


class Rows:
    """Rows of a sparse matrix with their bounds; `impossible` where an empty row cannot hold."""

    def __init__(self) -> None:
        self._columns: list[Integers] = []
        self._values: list[Floats] = []
        self._counts: list[Integers] = []
        self._low: list[Floats] = []
        self._high: list[Floats] = []
        self.impossible = False

    def block(self, rows: Integers, columns: Integers, values: Floats, low: Floats, high: Floats | None = None) -> None:
        """For each number r that occurs in `rows`, in order: low[r] ≤ Σ of its entries ≤ high[r], or = low[r]."""
        order = np.argsort(rows, kind="stable")
        counts = np.bincount(rows, minlength=len(low))
        used = counts > 0
        self._columns.append(columns[order])
        self._values.append(values[order])
        self._counts.append(counts[used])
        self._low.append(low[used])
        self._high.append(low[used] if high is None else high[used])

    def add(self, columns: Integers, low: float, high: float, values: Floats | None = None) -> None:
        """low ≤ Σ columns ≤ high."""
        if len(columns) == 0:
            self.impossible = self.impossible or low > _NEAR or high < -_NEAR
            return
        self._columns.append(columns)
        self._values.append(np.ones(len(columns)) if values is None else values)
        self._counts.append(np.array([len(columns)]))
        self._low.append(np.array([low]))
        self._high.append(np.array([high]))

    def arrays(self) -> tuple[Integers, Integers, Floats, Floats, Floats]:
        """starts, columns, values, low, high."""
        if not self._columns:
            none = np.zeros(0)
            return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), none, none, none
        starts = np.concatenate([[0], np.cumsum(np.concatenate(self._counts))])
        low, high = (np.concatenate(each).astype(np.float64) for each in (self._low, self._high))
        return starts, np.concatenate(self._columns), np.concatenate(self._values), low, high
