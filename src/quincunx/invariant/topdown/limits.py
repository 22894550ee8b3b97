"""What tables must satisfy besides adding up: invariants, bounds, earlier statistics; carried up to every ancestor.

If the children's limits are carried up (sums of lows and of highs), a parent that keeps them can be divided among its
children, as long as limited sets are disjoint or halves of larger ones (`rounding.md`); elsewhere it may not be, and
then whole subtrees are solved (`together.py`). What cannot be kept at all shows before anything is spent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from quincunx.errors import DataError
from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.fit import Slab
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.rounding import Row
from quincunx.invariant.topdown.schema import Floats, Integers, Query, Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """low ≤ Qx ≤ high at one level; arrays (places, cells of the query), high may be inf. firm: never relaxed."""

    level: int
    query: Query
    low: Floats
    high: Floats
    firm: bool
    name: str


def crossing(schema: Schema, limits: Sequence[Limit]) -> tuple[Limit, Limit] | None:
    """Two limits that must be kept and have sets of cells of which neither holds the other; None where there are none.
    Sets that are not limited at all do not count."""
    firm = [limit for limit in limits if limit.firm]
    for i, one in enumerate(firm):
        for other in firm[i + 1 :]:
            if one.query.name != other.query.name and not _laminar(schema, one, other):
                return one, other
    return None


def branching(schema: Schema, limits: Sequence[Limit]) -> bool:
    """Whether a parent that keeps the limits that were carried up need not be divisible (`rounding.md`): limits cross,
    or a limited set holds others that are not two parts of it, or they lie in each other three deep."""
    firm = [limit for limit in limits if limit.firm and limited(limit).any()]
    if crossing(schema, firm) is not None:
        return True
    nested = 0
    for one, other in permutations(firm, 2):
        sizes = np.bincount(_pairs(schema, one, other)[:, 1], minlength=other.query.cells)
        for cell, parts, filled in _parts(schema, one, other):
            if limited(other)[cell] and limited(one)[parts].any() and sizes[cell] > 1:
                if not filled or len(parts) > 2:
                    return True
                nested += 1
    return nested > 0 and len(firm) > 2


def limited(limit: Limit) -> NDArray[np.bool_]:
    """Which cells of the query are limited somewhere."""
    return np.asarray(((limit.low > 0) | np.isfinite(limit.high)).any(axis=0))


def _pairs(schema: Schema, one: Limit, other: Limit) -> Integers:
    """The pairs of cells of the two queries that share a possible cell."""
    free = ~schema.empty
    both = np.stack([schema.groups(one.query)[free], schema.groups(other.query)[free]], axis=1)
    return np.asarray(np.unique(both, axis=0))


def _inside(schema: Schema, one: Limit, other: Limit) -> Integers:
    """For each cell of one's query the cell of the other's that holds it, −1 where none does."""
    pairs = _pairs(schema, one, other)
    meets = np.bincount(pairs[:, 0], minlength=one.query.cells)
    found = np.full(one.query.cells, -1, dtype=np.int64)
    found[pairs[:, 0]] = pairs[:, 1]
    return np.where(meets == 1, found, -1)


def _laminar(schema: Schema, one: Limit, other: Limit) -> bool:
    forth, back = _inside(schema, one, other), _inside(schema, other, one)
    left, right = limited(one), limited(other)
    return all(
        not left[i] or not right[j] or forth[i] == j or back[j] == i for i, j in _pairs(schema, one, other).tolist()
    )


def carried(schema: Schema, geography: Geography, limits: Sequence[Limit]) -> list[list[Limit]]:
    """The limits of every level: its own and those carried up from below, one for each query and firmness, made
    consistent with each other. Raises DataError where no table can satisfy them."""
    found: list[list[Limit]] = [[] for _ in range(geography.depth)]
    for level in range(geography.depth - 1, -1, -1):
        here = [limit for limit in limits if limit.level == level]
        if level + 1 < geography.depth:
            starts = geography.starts[level + 1]
            here += [
                replace(
                    limit,
                    level=level,
                    low=np.add.reduceat(limit.low, starts, axis=0),
                    high=np.add.reduceat(limit.high, starts, axis=0),
                )
                for limit in found[level + 1]
            ]
        found[level] = _merged(schema, here, geography)
    return found


def _merged(schema: Schema, limits: list[Limit], geography: Geography) -> list[Limit]:
    made: dict[tuple[str, bool], Limit] = {}
    for limit in limits:
        key = (limit.query.name, limit.firm)
        old = made.get(key)
        made[key] = (
            limit
            if old is None
            else replace(old, low=np.maximum(old.low, limit.low), high=np.minimum(old.high, limit.high))
        )
    found = [_possible(schema, limit) for limit in made.values()]
    # Sets inside others tighten them and are tightened; twice is enough for what comes down and goes up again.
    for _ in range(2):
        for i, j in permutations(range(len(found)), 2):
            parts = _parts(schema, found[i], found[j])
            if parts:
                # What the curator wishes never tightens what must be kept.
                if found[i].firm or not found[j].firm:
                    found[j] = _coarser(parts, found[i], found[j])
                if found[j].firm or not found[i].firm:
                    found[i] = _finer(parts, found[i], found[j])
    _check(schema, found, geography)
    return found


def _possible(schema: Schema, limit: Limit) -> Limit:
    """Groups without a possible cell have none."""
    groups = schema.groups(limit.query)
    free = np.bincount(groups, weights=~schema.empty, minlength=limit.query.cells) > 0
    return replace(limit, high=np.where(free, limit.high, 0.0))


def _parts(schema: Schema, one: Limit, other: Limit) -> list[tuple[int, list[int], bool]]:
    """(cell of other's query, cells of one's inside it, whether they fill it)."""
    inside, pairs = _inside(schema, one, other), _pairs(schema, one, other)
    found = []
    for cell in np.unique(inside[inside >= 0]).tolist():
        parts = np.flatnonzero(inside == cell).tolist()
        filled = set(pairs[pairs[:, 1] == cell, 0].tolist()) == set(parts)
        found.append((cell, parts, filled))
    return found


def _coarser(sets: list[tuple[int, list[int], bool]], one: Limit, other: Limit) -> Limit:
    low, high = other.low.copy(), other.high.copy()
    for cell, parts, filled in sets:
        low[:, cell] = np.maximum(low[:, cell], one.low[:, parts].sum(axis=1))
        if filled:
            high[:, cell] = np.minimum(high[:, cell], one.high[:, parts].sum(axis=1))
    return replace(other, low=low, high=high)


def _finer(sets: list[tuple[int, list[int], bool]], one: Limit, other: Limit) -> Limit:
    """A part is at most what the others leave of the whole, and at least what they cannot take."""
    low, high = one.low.copy(), one.high.copy()
    for cell, parts, filled in sets:
        for part in parts:
            others = [each for each in parts if each != part]
            high[:, part] = np.minimum(high[:, part], other.high[:, cell] - one.low[:, others].sum(axis=1))
            if filled:
                low[:, part] = np.maximum(low[:, part], other.low[:, cell] - one.high[:, others].sum(axis=1))
    return replace(one, low=low, high=high)


def _check(schema: Schema, limits: list[Limit], geography: Geography) -> None:
    for one in limits:
        for other in limits:
            if other.query.name == one.query.name:
                bad = np.argwhere(one.low > other.high + 1e-9)
                if len(bad):
                    level = geography.names[one.level]
                    place = geography.codes[one.level][int(bad[0][0])]
                    names = one.name if one is other else f"{one.name} and {other.name}"
                    label = schema.labels(one.query)[int(bad[0][1])] or "total"
                    hint = "A lower bound is above an upper one, a sum that is fixed, or a structural zero."
                    what = f"{names}: no table can satisfy this in {level} {place}, {label}"
                    raise DataError(what, where="bounds", hint=hint)


def slabs(basis: Basis, limits: Sequence[Limit], first: int, last: int) -> list[Slab]:
    """The limits of places first … last − 1 of a level, for the fit."""
    return [
        Slab(
            groups=basis.schema.groups(limit.query),
            low=limit.low[first:last],
            high=limit.high[first:last],
            diagonal=basis.weights(limit.query),
        )
        for limit in limits
    ]


def rows(schema: Schema, limits: Sequence[Limit], first: int, last: int) -> list[Row]:
    """The limits of a family of siblings, for the rounding; those that say nothing are left out."""
    found = []
    for limit in limits:
        groups = schema.groups(limit.query)
        low, high = np.ceil(limit.low[first:last] - 1e-9), np.floor(limit.high[first:last] + 1e-9)
        for child, cell in np.argwhere((low > 0) | np.isfinite(high)):
            found.append(
                Row(
                    child=int(child),
                    cells=np.flatnonzero(groups == cell),
                    low=float(low[child, cell]),
                    high=float(high[child, cell]),
                    firm=limit.firm,
                )
            )
    return found


def relaxed(
    schema: Schema, geography: Geography, limits: Sequence[Sequence[Limit]], tables: Sequence[Integers]
) -> list[tuple[str, float]]:
    """(bound, amount) of every curator's bound that the tables do not keep."""
    found = []
    for level, here in enumerate(limits):
        for limit in (each for each in here if not each.firm):
            sums, labels = schema.answers(limit.query, tables[level]), schema.labels(limit.query)
            # Bounds are whole; what was made tight by others may miss that by a rounding.
            over = np.maximum(np.ceil(limit.low - 1e-9) - sums, sums - np.floor(limit.high + 1e-9))
            for place, cell in np.argwhere(over > 0).tolist():
                name = f"{limit.name}, {geography.codes[level][place]}, {labels[cell] or 'total'}"
                found.append((name, float(over[place, cell])))
    return found
