"""Some families of siblings, fitted and rounded: a function of a task alone, so that any core of any process may do it.

A task holds everything it needs and nothing of people: targets, the tables of parents, limits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.families import Families
from quincunx.invariant.topdown.fit import Margin, Pull, Slab, fit, simplex_shift
from quincunx.invariant.topdown.limits import Limit, rows, slabs
from quincunx.invariant.topdown.rounding import Rounded, Row, Solver, Weighed, rounded
from quincunx.invariant.topdown.schema import TOTAL, Floats, Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """Sets of cells whose sums are decided: atoms[c] is the set of cell c, −1 for none; sums: (places, sets)."""

    atoms: Integers
    sums: Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """value, variance: targets of some places, (places, coordinates). starts: where each family begins. totals: the
    parents' tables, None at the first level. limits: of these places. held: noisy totals that are fitted first and then
    held. pulls: what else is known of weighted sums. common, either: what the first level keeps besides (`Ways`).
    skip: families that are not rounded. fixed: sums that are decided, instead of limits."""

    value: Floats = field(repr=False)
    variance: Floats = field(repr=False)
    starts: Integers = field(repr=False)
    totals: Integers | None = field(repr=False)
    limits: tuple[Limit, ...] = ()
    held: Floats | None = field(default=None, repr=False)
    pulls: tuple[Pull | Margin, ...] = ()
    common: tuple[Weighed, ...] = ()
    either: tuple[tuple[Weighed, ...], ...] = ()
    skip: frozenset[int] = frozenset()
    fixed: Fixed | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What a task gives. tables: (places, cells), 0 where a family was skipped or is undivided: those that no tables
    can divide."""

    tables: Integers = field(repr=False)
    steps: int
    fractional: int
    wide: int
    undivided: tuple[int, ...]


def solved(basis: Basis, solver: Solver, task: Task) -> Part:
    """Fit the families of a task, and round each."""
    mask, places = ~basis.schema.empty, len(task.value)
    with np.errstate(divide="ignore"):
        precision = 1 / task.variance
    firm = slabs(basis, task.limits, 0, places) + _held(basis, task) + _fixed(task.fixed, places)
    weighed = [*task.pulls, *task.common]
    fitted = fit(
        basis,
        value=task.value,
        precision=precision,
        totals=None if task.totals is None else task.totals.astype(np.float64),
        starts=task.starts,
        mask=mask,
        slabs=[*firm, *weighed],
        # Rounding makes bounds exact; a thousandth of a person before it is enough.
        tolerance=1e-3 if firm or weighed else 1e-6,
    )
    found, fractional, wide = np.zeros_like(fitted.tables, dtype=np.int64), 0, 0
    undivided = []
    ends = np.append(task.starts, places)
    for family in range(len(task.starts)):
        if family in task.skip:
            continue
        low, high = int(ends[family]), int(ends[family + 1])
        made = _rounded(basis, solver, task, family, fitted.tables[low:high], low, high)
        if made is None:
            undivided.append(family)
            continue
        found[low:high] = made.tables
        fractional, wide = fractional + made.fractional, wide + made.wide
    return Part(tables=found, steps=fitted.steps, fractional=fractional, wide=wide, undivided=tuple(undivided))


def _rounded(
    basis: Basis, solver: Solver, task: Task, family: int, tables: Floats, low: int, high: int
) -> Rounded | None:
    totals = None if task.totals is None else task.totals[family]
    limited = rows(basis.schema, task.limits, low, high) + _sums(task.fixed, low, high)
    mask = ~basis.schema.empty
    if not task.either:
        return rounded(solver, tables, totals, limited, mask=mask)
    ways = [[each.row(low) for each in way] for way in task.either]
    found = [rounded(solver, tables, totals, [*limited, *each], mask=mask) for each in ways]
    made = [each for each in found if each is not None]
    return min(made, key=lambda each: float(np.abs(each.tables - tables).sum()), default=None)


def transported(fixed: Fixed, totals: Integers | None) -> Integers:
    """Some tables with these sums that add up to `totals`, by the corner rule: for a family that no program solved."""
    if totals is None:
        totals = np.zeros(len(fixed.atoms), dtype=np.int64)
        firsts = [int(np.flatnonzero(fixed.atoms == atom)[0]) for atom in range(fixed.sums.shape[1])]
        totals[firsts] = fixed.sums.sum(axis=0)
    found = np.zeros((len(fixed.sums), len(totals)), dtype=np.int64)
    for atom in range(fixed.sums.shape[1]):
        cells = np.flatnonzero(fixed.atoms == atom)
        edges = np.concatenate([[0], np.cumsum(totals[cells])])
        steps = np.concatenate([[0], np.cumsum(fixed.sums[:, atom])])
        # Both divide one line from 0 to their common sum; a child has of a cell what their pieces share.
        low = np.maximum(edges[None, :-1], steps[:-1, None])
        found[:, cells] = np.maximum(np.minimum(edges[None, 1:], steps[1:, None]) - low, 0)
    return found


def _held(basis: Basis, task: Task) -> list[Slab]:
    """The first pass: totals that are not negative and add up, nearest to the noisy ones; then they are held."""
    if task.held is None or task.totals is None:
        return []
    families = Families.of(task.starts, len(task.value))
    wanted = task.totals.sum(axis=1, keepdims=True).astype(np.float64)
    fixed = np.maximum(task.held - families.spread(simplex_shift(task.held, wanted, families)), 0.0)
    total = basis.schema.query(TOTAL)
    return [Slab(groups=basis.schema.groups(total), low=fixed, high=fixed, diagonal=basis.weights(total))]


def _fixed(fixed: Fixed | None, places: int) -> list[Slab]:
    if fixed is None:
        return []
    # Cells of no set make one more, whose sum is 0: they cannot be occupied.
    count = fixed.sums.shape[1]
    groups = np.where(fixed.atoms < 0, count, fixed.atoms)
    sums = np.hstack([fixed.sums, np.zeros((places, count + 1 - fixed.sums.shape[1]))])[:, : int(groups.max()) + 1]
    return [Slab(groups=groups, low=sums, high=sums)]


def _sums(fixed: Fixed | None, low: int, high: int) -> list[Row]:
    if fixed is None:
        return []
    cells = [np.flatnonzero(fixed.atoms == atom) for atom in range(fixed.sums.shape[1])]
    return [
        Row(child=place - low, cells=cells[atom], low=float(sum_), high=float(sum_), firm=True)
        for place in range(low, high)
        for atom, sum_ in enumerate(fixed.sums[place].tolist())
    ]
