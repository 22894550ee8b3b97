"""A whole subtree in one integer program: where dividing from the top down cannot keep every invariant (`together.md`).

The variables are the leaves' tables; every level's table is a sum of them, so all limits of all levels are rows of one
program, and whatever table satisfies them is found. It is the fallback, and has a stated size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import DataError
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.limits import Limit
from quincunx.invariant.topdown.rounding import Rows, Solver
from quincunx.invariant.topdown.schema import Floats, Integers, Schema

# Cells of leaves in one program: beyond it an integer program may take hours.
MOST: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Subtree:
    """tables: by level from `top` down, whole numbers. first: the first node of each of these levels. nearest: whether
    it is proved that none is nearer. relaxed: (name, amount) of every curator's bound that was not kept."""

    top: int
    first: tuple[int, ...]
    tables: tuple[Integers, ...]
    nearest: bool
    relaxed: tuple[tuple[str, float], ...]


def ranges(geography: Geography, top: int, first: int, last: int) -> list[tuple[int, int]]:
    """For each level from `top` down, the nodes below nodes first … last − 1 of it."""
    found = [(first, last)]
    for level in range(top + 1, geography.depth):
        ends = np.append(geography.starts[level], geography.nodes(level))
        found.append((int(ends[found[-1][0]]), int(ends[found[-1][1]])))
    return found


def leaf_cells(schema: Schema, geography: Geography, top: int, first: int, last: int) -> int:
    """The size of a subtree's program."""
    low, high = ranges(geography, top, first, last)[-1]
    return (high - low) * int((~schema.empty).sum())


def check_possible(schema: Schema, geography: Geography, limits: Sequence[Sequence[Limit]]) -> None:
    """Raise DataError where no table keeps the limits, by looking for one in each place of the first level that is not
    too large for it."""
    solver = Solver()
    for root, code in enumerate(geography.codes[0]):
        if leaf_cells(schema, geography, 0, root, root + 1) > MOST:
            continue
        if (
            together(solver, schema, geography, limits, top=0, nodes=(root, root + 1), totals=None, targets=None)
            is None
        ):
            what = f"no table keeps these invariants and bounds in {code}"
            raise DataError(what, where="bounds", hint="They contradict each other; nothing was spent.")


def together(
    solver: Solver,
    schema: Schema,
    geography: Geography,
    limits: Sequence[Sequence[Limit]],
    *,
    top: int,
    nodes: tuple[int, int],
    totals: Integers | None,
    targets: Sequence[Floats] | None,
) -> Subtree | None:
    """Whole tables of all nodes below and at nodes first … last − 1 of level `top`, which add up to `totals` where
    given, and keep the limits of every level; None where there are none. targets: by level from `top` down, the tables
    to be near (the sum of distances over all cells of all levels is the least); None asks whether there are any."""
    spans = ranges(geography, top, *nodes)
    begin, end = spans[-1]
    open_ = ~schema.empty if totals is None else ~schema.empty & (totals > 0)
    cells, leaves = np.flatnonzero(open_), end - begin
    size, width = leaves * len(cells), len(cells)
    wish = np.zeros((leaves, width)) if targets is None else np.maximum(targets[-1][begin:end][:, cells], 0.0)
    base = np.floor(wish)
    # x = base + b + up − down: |x − wish| is its own chord between floor and ceiling, and has slope 1 beyond.
    cost = [(1 - 2 * (wish - base)).reshape(-1), np.ones(size), np.ones(size)]
    upper = [np.ones(size), np.full(size, np.inf), base.reshape(-1)]
    index = np.arange(size).reshape(leaves, width)
    made, extra, count = Rows(), 3 * size, 0
    names: list[tuple[int, str]] = []
    if totals is not None:
        if ((totals > 0) & schema.empty).any():
            return None
        for place, cell in enumerate(cells):
            _add(made, index[:, place], base[:, place], float(totals[cell]), float(totals[cell]), size)
    low_leaf = [_leaves(geography, top + depth, span, begin) for depth, span in enumerate(spans)]
    price = 10.0 + 4.0 * size * max(1, len(spans))
    for depth, (first, last) in enumerate(spans):
        level = top + depth
        for limit in limits[level]:
            groups, labels = schema.groups(limit.query)[cells], schema.labels(limit.query)
            low, high = np.ceil(limit.low[first:last] - 1e-9), np.floor(limit.high[first:last] + 1e-9)
            for node, cell in np.argwhere((low > 0) | np.isfinite(high)):
                below = np.arange(low_leaf[depth][node], low_leaf[depth][node + 1])
                where = np.ix_(below, np.flatnonzero(groups == cell))
                slack: Integers = np.zeros(0, dtype=np.int64)
                if not limit.firm:
                    slack = np.array([extra + count, extra + count + 1])
                    place_name = geography.codes[level][first + int(node)]
                    names.append((count, f"{limit.name}, {place_name}, {labels[int(cell)] or 'total'}"))
                    cost.append(np.full(2, price))
                    upper.append(np.full(2, np.inf))
                    count += 2
                least, most = float(low[node, cell]), float(high[node, cell])
                _add(made, index[where].reshape(-1), base[where].reshape(-1), least, most, size, slack)
        if targets is not None and depth < len(spans) - 1:
            for node in range(last - first):
                part = slice(low_leaf[depth][node], low_leaf[depth][node + 1])
                for place, cell in enumerate(cells):
                    goal = float(max(targets[depth][first + node, cell], 0.0))
                    slack = np.array([extra + count, extra + count + 1])
                    _add(made, index[part, place], base[part, place], goal, goal, size, slack)
                    cost.append(np.ones(2))
                    upper.append(np.full(2, np.inf))
                    count += 2
    if made.impossible:
        return None
    # Leaves are whole; what a level misses need not be.
    whole = np.arange(3 * size + count) < 3 * size
    costs = np.concatenate(cost) if targets is not None else np.where(whole, 0.0, 1.0)
    found = solver.solve(costs, np.concatenate(upper), made.arrays(), whole=whole) if size else np.zeros(count)
    if found is None:
        return None
    near = np.rint(found[: 3 * size])
    table = np.zeros((leaves, schema.cells), dtype=np.int64)
    table[:, cells] = base + (near[:size] + near[size : 2 * size] - near[2 * size :]).reshape(leaves, width)
    tables = [np.add.reduceat(table, starts[:-1], axis=0) for starts in low_leaf]
    relaxed = tuple(
        (name, float(np.rint(found[3 * size + k : 3 * size + k + 2].sum())))
        for k, name in names
        if found[3 * size + k : 3 * size + k + 2].sum() > 0.5
    )
    firsts = tuple(first for first, _ in spans)
    return Subtree(top=top, first=firsts, tables=tuple(tables), nearest=solver.proved, relaxed=relaxed)


def _leaves(geography: Geography, level: int, span: tuple[int, int], begin: int) -> Integers:
    """The first leaf of each node of a span, counted from `begin`, and the end."""
    ends = np.arange(span[0], span[1] + 1)
    for below in range(level + 1, geography.depth):
        ends = np.append(geography.starts[below], geography.nodes(below))[ends]
    return np.asarray(ends - begin, dtype=np.int64)


def _add(
    made: Rows,
    columns: Integers,
    base: Floats,
    low: float,
    high: float,
    size: int,
    slack: Integers | None = None,
) -> None:
    """low ≤ Σ (base + b + up − down) + what gives way ≤ high."""
    all_columns = np.concatenate([columns, columns + size, columns + 2 * size])
    signs: NDArray[np.float64] = np.concatenate([np.ones(2 * len(columns)), -np.ones(len(columns))])
    if slack is not None and len(slack):
        all_columns, signs = np.append(all_columns, slack), np.append(signs, [1.0, -1.0])
    known = float(base.sum())
    made.add(all_columns, low - known, high - known, signs)
