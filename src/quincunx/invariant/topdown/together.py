"""A whole subtree in one integer program: where dividing from the top down cannot keep every invariant (`together.md`).

Cells that no limit tells apart are one atom, and places below the last level that has limits do not matter. The
variables are the atoms of that level's places; every level's sums are sums of them, so all limits of all levels are
rows of one program, and whatever keeps them is found. With the atoms decided, cells can always be divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import DataError
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.limits import Limit, limited
from quincunx.invariant.topdown.rounding import Rows, Solver, UnsolvedError
from quincunx.invariant.topdown.schema import Floats, Integers, Schema

# Numbers in one integer program: beyond it a search may take hours, and the linear program is taken by itself.
MOST: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Atoms:
    """of: for each cell the number of its atom, −1 for a structural zero. count: how many. last: the last level with
    limits, whose places the variables are about."""

    of: Integers = field(repr=False)
    count: int
    last: int

    @staticmethod
    def made(schema: Schema, limits: Sequence[Sequence[Limit]]) -> Atoms:
        """The atoms of the limits of every level."""
        known: dict[str, Integers] = {}
        last = 0
        for level, here in enumerate(limits):
            for limit in here:
                some = limited(limit)
                if some.any():
                    last, name = level, limit.query.name
                    groups = schema.groups(limit.query)
                    part = np.where(some[groups], groups, -1)
                    known[name] = np.maximum(known[name], part) if name in known else part
        free, found = ~schema.empty, np.full(schema.cells, -1, dtype=np.int64)
        stacked = np.stack([*known.values(), np.zeros(schema.cells, dtype=np.int64)], axis=1)[free]
        _, found[free] = np.unique(stacked, axis=0, return_inverse=True)
        return Atoms(of=found, count=int(found.max()) + 1, last=last)

    def sums(self, tables: Floats | Integers) -> Floats:
        """(places, cells) to (places, atoms)."""
        found = np.zeros((len(tables), self.count))
        for atom in range(self.count):
            found[:, atom] = tables[:, self.of == atom].sum(axis=1)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtree:
    """sums: by level from `top` down to the last with limits, whole numbers (places, atoms). first: the first place of
    each of these levels. nearest: whether it is proved that none is nearer."""

    top: int
    first: tuple[int, ...]
    sums: tuple[Integers, ...]
    nearest: bool


def ranges(geography: Geography, top: int, first: int, last: int, bottom: int) -> list[tuple[int, int]]:
    """For each level from `top` down to `bottom`, the nodes below nodes first … last − 1 of it."""
    found = [(first, last)]
    for level in range(top + 1, bottom + 1):
        ends = np.append(geography.starts[level], geography.nodes(level))
        found.append((int(ends[found[-1][0]]), int(ends[found[-1][1]])))
    return found


def check_possible(schema: Schema, geography: Geography, limits: Sequence[Sequence[Limit]]) -> None:
    """Raise DataError where no table keeps the limits, by looking for one in each place of the first level; and where
    none was found in the time that there is, since then one might not be found after measurements are paid for."""
    solver, atoms = Solver(), Atoms.made(schema, limits)
    for root, code in enumerate(geography.codes[0]):
        try:
            found = together(solver, atoms, schema, geography, limits, top=0, nodes=(root, root + 1))
        except UnsolvedError:
            what = f"it was not found out whether any table keeps these invariants and bounds in {code}"
            hint = "Take fewer that cross; nothing was spent."
            raise DataError(what, where="bounds", hint=hint) from None
        if found is None:
            what = f"no table keeps these invariants and bounds in {code}"
            raise DataError(what, where="bounds", hint="They contradict each other; nothing was spent.")


def together(
    solver: Solver,
    atoms: Atoms,
    schema: Schema,
    geography: Geography,
    limits: Sequence[Sequence[Limit]],
    *,
    top: int,
    nodes: tuple[int, int],
    totals: Floats | None = None,
    targets: Sequence[Floats] | None = None,
) -> Subtree | None:
    """Whole sums for all nodes below and at nodes first … last − 1 of level `top`, which add up to `totals` (of atoms)
    where given, and keep the limits of every level; None where there are none. targets: by level from `top` down, the
    sums to be near (the sum of distances over all atoms of all levels is the least); None asks whether there are any.
    Raises UnsolvedError where the search ended without an answer."""
    spans = ranges(geography, top, *nodes, atoms.last)
    begin, end = spans[-1]
    width, places = atoms.count, end - begin
    size = places * width
    wish = np.zeros((places, width)) if targets is None else np.maximum(targets[-1], 0.0)
    program = _Program(np.floor(wish), wish, far=targets is not None)
    atom = np.tile(np.arange(width), places)
    if totals is not None:
        program.add(atom, totals, totals)
    owner = np.arange(begin, end)
    price = 10.0 + 4.0 * size * len(spans)
    for depth in range(len(spans) - 1, -1, -1):
        level, (first, last) = top + depth, spans[depth]
        above = owner - first
        for limit in limits[level]:
            low, high = np.ceil(limit.low[first:last] - 1e-9), np.floor(limit.high[first:last] + 1e-9)
            said = ((low > 0) | np.isfinite(high)) & ~_follows(
                geography, limits, limit, first, last, level < atoms.last
            )
            cell = _cells_of(schema, atoms, limit)
            row = (above[:, None] * limit.query.cells + cell[None, :]).reshape(-1)
            said = np.append(said.reshape(-1), False)
            row = np.where(np.tile(cell >= 0, places) & said[row], row, -1)
            program.add(row, low.reshape(-1), high.reshape(-1), price=None if limit.firm else price)
            # A set without a possible cell is 0, which is not within what it must be.
            empty = np.setdiff1d(np.flatnonzero(said), row)
            if limit.firm and (low.reshape(-1)[empty] > 0).any():
                return None
        if targets is not None and depth < len(spans) - 1:
            goal = np.maximum(targets[depth], 0.0).reshape(-1)
            # Whole goals leave a linear program with whole solutions.
            goal = goal if size <= MOST else np.rint(goal)
            program.add((above[:, None] * width + np.arange(width)).reshape(-1), goal, goal, price=1.0)
        owner = geography.parents[level][owner] if level else owner
    found = program.solved(solver, size <= MOST)
    if found is None:
        return None
    sums = [found.reshape(places, width)]
    for depth in range(len(spans) - 2, -1, -1):
        starts = geography.starts[top + depth + 1][spans[depth][0] : spans[depth][1]] - spans[depth + 1][0]
        sums.append(np.add.reduceat(sums[-1], starts, axis=0))
    return Subtree(top=top, first=tuple(f for f, _ in spans), sums=tuple(sums[::-1]), nearest=solver.proved)


def _follows(
    geography: Geography, limits: Sequence[Sequence[Limit]], limit: Limit, first: int, last: int, inside: bool
) -> NDArray[np.bool_] | bool:
    """Where a limit says no more than the sum of the children's limits on the same query, which the program has."""
    below = (
        [each for each in limits[limit.level + 1] if each.query.name == limit.query.name and each.firm]
        if inside
        else []
    )
    if not below:
        return False
    starts = geography.starts[limit.level + 1]
    low = np.max([np.add.reduceat(each.low, starts, axis=0)[first:last] for each in below], axis=0)
    high = np.min([np.add.reduceat(each.high, starts, axis=0)[first:last] for each in below], axis=0)
    return np.asarray((limit.low[first:last] <= low) & (limit.high[first:last] >= high))


def _cells_of(schema: Schema, atoms: Atoms, limit: Limit) -> Integers:
    """For each atom the query's cell that holds it, −1 where that is not limited."""
    found, groups, some = np.full(atoms.count, -1, dtype=np.int64), schema.groups(limit.query), limited(limit)
    known = (atoms.of >= 0) & some[groups]
    found[atoms.of[known]] = groups[known]
    return found


class _Program:
    """Variables x = base + b + up − down, whole and not negative; with `far` their distance from what is wished costs:
    |x − wish| is its own chord between floor and ceiling, and has slope 1 beyond. Without it nothing is wished, and x
    costs nothing."""

    def __init__(self, base: Floats, wish: Floats, *, far: bool) -> None:
        self._base, self._size, self._far = base.reshape(-1), base.size, far
        if far:
            self._cost = [1 - 2 * (wish - base).reshape(-1), np.ones(2 * base.size)]
            self._upper = [np.ones(base.size), np.full(base.size, np.inf), self._base]
        else:
            self._cost, self._upper = [np.zeros(base.size)], [np.full(base.size, np.inf)]
        self._rows = Rows()
        self._count = 0

    def add(self, row: Integers, low: Floats, high: Floats, *, price: float | None = None) -> None:
        """low[r] ≤ Σ x over the variables with row[·] = r ≤ high[r]; −1 is no row. price: of missing it by one."""
        used = np.flatnonzero(row >= 0)
        own = row[used]
        known = np.bincount(own, weights=self._base[used], minlength=len(low))
        rows, columns, values = [own], [used], [np.ones(len(used))]
        if self._far:
            rows, columns = [own] * 3, [used, used + self._size, used + 2 * self._size]
            values += [np.ones(len(used)), -np.ones(len(used))]
        if price is not None:
            which, start = np.unique(own), (3 if self._far else 1) * self._size + self._count
            pair = start + 2 * np.arange(len(which))
            rows, columns = [*rows, which, which], [*columns, pair, pair + 1]
            values += [np.ones(len(which)), -np.ones(len(which))]
            self._cost.append(np.full(2 * len(which), price))
            self._upper.append(np.full(2 * len(which), np.inf))
            self._count += 2 * len(which)
        entries = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
        self._rows.block(*entries, low - known, high - known)

    def solved(self, solver: Solver, search: bool) -> Integers | None:
        """The whole x. Where nothing is wished the linear program comes first, since its solution is mostly whole; it
        must be where a search would be long."""
        cost, upper = np.concatenate(self._cost), np.concatenate(self._upper)
        if not self._size:
            return np.zeros(0, dtype=np.int64)
        arrays, number = self._rows.arrays(), (3 if self._far else 1) * self._size
        found = None
        if not search or not self._far:
            found = solver.solve(cost, upper, arrays, presolve=True)
            if found is None:
                return None
            whole = self._whole(found)
            if (np.abs(whole - self._real(found)) < 1e-6).all():
                return whole
            if self._far:
                raise UnsolvedError("fractions")
        # What is missed need not be whole.
        found = solver.solve(cost, upper, arrays, whole=np.arange(len(cost)) < number)
        return None if found is None else self._whole(found)

    def _real(self, found: Floats) -> Floats:
        size = self._size
        if not self._far:
            return found[:size]
        return np.asarray(self._base + found[:size] + found[size : 2 * size] - found[2 * size : 3 * size])

    def _whole(self, found: Floats) -> Integers:
        return np.rint(self._real(found)).astype(np.int64)
