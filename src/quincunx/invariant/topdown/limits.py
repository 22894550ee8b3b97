"""What tables must satisfy besides adding up: invariants, bounds, earlier statistics; carried up to every ancestor.

If the children's limits are carried up (sums of lows and of highs), a parent that keeps them can always be divided
among its children, as long as the queries are nested (`rounding.md`). So what cannot be kept shows before anything is
spent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from quincunx.errors import DataError, ParameterError
from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.fit import Slab
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.rounding import Row
from quincunx.invariant.topdown.schema import Floats, Query, Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """low ≤ Qx ≤ high at one level; arrays (places, cells of the query), high may be inf. firm: never relaxed."""

    level: int
    query: Query
    low: Floats
    high: Floats
    firm: bool
    name: str


def check_nested(schema: Schema, limits: Sequence[Limit]) -> None:
    """Raise unless the queries that must be kept exactly are nested in each other."""
    firm = [limit for limit in limits if limit.firm]
    for i, one in enumerate(firm):
        for other in firm[i + 1 :]:
            if not (schema.determines(one.query, other.query) or schema.determines(other.query, one.query)):
                what = f"{one.name} and {other.name} cross: a table that keeps both need not exist for every parent"
                hint = "Take queries of which one is a margin of the other, or a public bound, which may give way."
                raise ParameterError(what, where="invariants", hint=hint)


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
    # Nested queries tighten each other; twice is enough for what comes down and goes up again.
    for _ in range(2):
        for i, j in permutations(range(len(found)), 2):
            if schema.determines(found[i].query, found[j].query):
                # What the curator wishes never tightens what must be kept.
                if found[i].firm or not found[j].firm:
                    found[j] = _coarser(schema, found[i], found[j])
                if found[j].firm or not found[i].firm:
                    found[i] = _finer(schema, found[i], found[j])
    _check(schema, found, geography)
    return found


def _possible(schema: Schema, limit: Limit) -> Limit:
    """Groups without a possible cell have none."""
    groups = schema.groups(limit.query)
    free = np.bincount(groups, weights=~schema.empty, minlength=limit.query.cells) > 0
    return replace(limit, high=np.where(free, limit.high, 0.0))


def _parts(schema: Schema, one: Limit, other: Limit) -> list[list[int]]:
    """For each cell of the coarser query the cells of the finer one."""
    fine, coarse = schema.groups(one.query), schema.groups(other.query)
    return [sorted(set(fine[coarse == cell].tolist())) for cell in range(other.query.cells)]


def _coarser(schema: Schema, one: Limit, other: Limit) -> Limit:
    low, high = other.low.copy(), other.high.copy()
    for cell, parts in enumerate(_parts(schema, one, other)):
        low[:, cell] = np.maximum(low[:, cell], one.low[:, parts].sum(axis=1))
        high[:, cell] = np.minimum(high[:, cell], one.high[:, parts].sum(axis=1))
    return replace(other, low=low, high=high)


def _finer(schema: Schema, one: Limit, other: Limit) -> Limit:
    """A part is at most what the others leave of the whole, and at least what they cannot take."""
    low, high = one.low.copy(), one.high.copy()
    for cell, parts in enumerate(_parts(schema, one, other)):
        for part in parts:
            others = [each for each in parts if each != part]
            high[:, part] = np.minimum(high[:, part], other.high[:, cell] - one.low[:, others].sum(axis=1))
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


def rows(schema: Schema, limits: Sequence[Limit], first: int, last: int, codes: Sequence[str]) -> list[Row]:
    """The limits of a family of siblings, for the rounding; those that say nothing are left out."""
    found = []
    for limit in limits:
        groups, labels = schema.groups(limit.query), schema.labels(limit.query)
        low, high = np.ceil(limit.low[first:last] - 1e-9), np.floor(limit.high[first:last] + 1e-9)
        for child, cell in np.argwhere((low > 0) | np.isfinite(high)):
            found.append(
                Row(
                    child=int(child),
                    cells=np.flatnonzero(groups == cell),
                    low=float(low[child, cell]),
                    high=float(high[child, cell]),
                    firm=limit.firm,
                    name=f"{limit.name}, {codes[first + int(child)]}, {labels[int(cell)] or 'total'}",
                )
            )
    return found
