"""From evidence to whole tables: root first, then every family of siblings under the table of its parent."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np

from quincunx.errors import UnavailableError
from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.estimate import Estimate
from quincunx.invariant.topdown.families import Families
from quincunx.invariant.topdown.fit import Margin, Pull, Slab, fit, simplex_shift
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.limits import Limit, rows, slabs
from quincunx.invariant.topdown.rounding import Rounded, Row, Solver, Ways, Weighed, rounded
from quincunx.invariant.topdown.schema import TOTAL, Floats, Integers
from quincunx.invariant.topdown.together import MOST, leaf_cells, together

# Numbers in one batch of families: large enough for arrays to pay, small enough to share among cores and caches.
_BATCH: Final = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """tables: whole tables of every level. steps: the most steps of a fit at each level. programs, fractional, wide:
    rounding programs, variables among them that were not whole, and families in which cells moved further than
    rounding. joint: subtrees that were solved as a whole, because their parents could not be divided; unproved: those
    among them of which it is not proved that nothing is nearer. repairs: (bound, amount) of every curator's bound that
    could not be kept."""

    tables: tuple[Integers, ...]
    steps: tuple[int, ...]
    programs: int
    fractional: int
    wide: int
    joint: int
    unproved: int
    repairs: tuple[tuple[str, float], ...]


def solve(
    basis: Basis,
    geography: Geography,
    targets: Sequence[Estimate],
    limits: Sequence[Sequence[Limit]],
    *,
    totals: Mapping[int, Floats] | None = None,
    ways: Ways | None = None,
    pulls: Sequence[Sequence[Pull | Margin]] = (),
    progress: Callable[[str, int, int], None] | None = None,
    cores: int | None = None,
) -> Solved:
    """Whole tables for every level. totals: by level, noisy totals that are fitted first and then held. ways: weighted
    sums that the nodes of the first level keep. pulls: by level, what else is known of weighted sums, with noise.

    The batches do not depend on the number of cores, so neither does the result.
    """
    local = threading.local()
    tables: list[Integers] = []
    whole = _Whole(basis, geography, targets, limits)
    steps, programs, fractional, wide = [], 0, 0, 0
    repairs: list[tuple[str, float]] = []
    with ThreadPoolExecutor(max_workers=cores or os.cpu_count() or 1) as pool:
        for level in range(geography.depth):
            work = _Level(basis, geography, targets[level], limits[level], level, tables[-1] if tables else None, local)
            work.totals, work.decided = (totals or {}).get(level), whole.decided[level]
            work.ways = ways if level == 0 else None
            work.pulls = pulls[level] if pulls else ()
            made = np.empty((geography.nodes(level), basis.schema.cells), dtype=np.int64)
            tables.append(made)
            most, done = 0, 0
            undivided: list[int] = []
            for first, last, part in pool.map(work.batch, work.batches()):
                made[first:last] = part.tables
                most, programs = max(most, part.steps), programs + part.programs
                fractional, wide = fractional + part.fractional, wide + part.wide
                repairs += part.repairs
                undivided += part.undivided
                done += last - first
                if progress is not None:
                    progress(geography.names[level], done, geography.nodes(level))
            for family in undivided:
                whole.mend(level, family, tables)
            for node, table in whole.decided[level].items():
                made[node] = table
            steps.append(most)
    return Solved(
        tables=tuple(tables),
        steps=tuple(steps),
        programs=programs,
        fractional=fractional,
        wide=wide,
        joint=whole.joint,
        unproved=whole.unproved,
        repairs=(*repairs, *whole.repairs),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    tables: Integers
    steps: int
    programs: int
    fractional: int
    wide: int
    repairs: list[tuple[str, float]]
    undivided: list[int]


class _Whole:
    """Subtrees that are solved as a whole. decided: by level, tables of nodes below them."""

    def __init__(
        self, basis: Basis, geography: Geography, targets: Sequence[Estimate], limits: Sequence[Sequence[Limit]]
    ) -> None:
        self._basis, self._geography, self._targets, self._limits = basis, geography, targets, limits
        self.decided: list[dict[int, Integers]] = [{} for _ in range(geography.depth)]
        self.joint, self.unproved = 0, 0
        self.repairs: list[tuple[str, float]] = []
        self._solver: Solver | None = None
        self._wanted: dict[int, Floats] = {}

    def mend(self, level: int, family: int, tables: list[Integers]) -> None:
        """Solve the smallest subtree around a family of `level` that can be solved, and put its tables in place.

        A family of siblings is named by its parent, which cannot be divided; so it and its own siblings are made anew
        with all that is below them, under the table of their parent; if there are none, one generation higher.
        """
        geography, schema = self._geography, self._basis.schema
        first = int(geography.starts[level][family]) if level else family
        if first in self.decided[level]:
            return
        self._solver = self._solver or Solver()
        top, node = max(level - 1, 0), family
        while True:
            parent = int(geography.parents[top][node]) if top else -1
            starts = np.append(geography.starts[top], geography.nodes(top))
            nodes = (int(starts[parent]), int(starts[parent + 1])) if top else (node, node + 1)
            if leaf_cells(schema, geography, top, *nodes) > MOST:
                what = (
                    "the invariants cannot be kept by dividing this place, and it is too large to be solved as a whole"
                )
                hint = f"At most {MOST:,} cells of leaves. The measurements are in the ledger; nothing is lost."
                where = f"{geography.names[top]} {geography.codes[top][node]}"
                raise UnavailableError(what, where=where, hint=hint)
            found = together(
                self._solver,
                schema,
                geography,
                self._limits,
                top=top,
                nodes=nodes,
                totals=tables[top - 1][parent] if top else None,
                targets=[self._near(each) for each in range(top, geography.depth)],
            )
            if found is not None:
                break
            if not top:
                hint = "They contradict each other. The measurements are in the ledger; nothing is lost."
                where = f"{geography.names[0]} {geography.codes[0][node]}"
                raise UnavailableError("no table satisfies the invariants of this place", where=where, hint=hint)
            top, node = top - 1, parent
        self.joint, self.unproved = self.joint + 1, self.unproved + (not found.nearest)
        self.repairs += found.relaxed
        for depth, (begin, part) in enumerate(zip(found.first, found.tables, strict=True)):
            self.decided[top + depth].update({begin + place: table for place, table in enumerate(part)})
            if top + depth <= level:
                tables[top + depth][begin : begin + len(part)] = part

    def _near(self, level: int) -> Floats:
        """The tables of a level that those of a subtree are to be near; made once, however many are mended."""
        if level not in self._wanted:
            self._wanted[level] = self._basis.tables(self._targets[level].value)
        return self._wanted[level]


class _Level:
    def __init__(
        self,
        basis: Basis,
        geography: Geography,
        target: Estimate,
        limits: Sequence[Limit],
        level: int,
        above: Integers | None,
        local: threading.local,
    ) -> None:
        self.basis, self.geography, self.target, self.limits = basis, geography, target, limits
        self.level, self.above, self.local = level, above, local
        self.totals: Floats | None = None
        self.decided: dict[int, Integers] = {}
        self.ways: Ways | None = None
        self.pulls: Sequence[Pull | Margin] = ()
        # Each node of the first level is a family of its own.
        count = geography.nodes(level)
        starts = np.arange(count) if above is None else geography.starts[level]
        self.ends = np.append(starts, count)

    def batches(self) -> Iterator[tuple[int, int]]:
        """Ranges of families."""
        first, size = 0, 0
        for family in range(len(self.ends) - 1):
            size += int(self.ends[family + 1] - self.ends[family]) * self.basis.schema.cells
            if size >= _BATCH:
                yield first, family + 1
                first, size = family + 1, 0
        if first < len(self.ends) - 1:
            yield first, len(self.ends) - 1

    def batch(self, families: tuple[int, int]) -> tuple[int, int, _Part]:
        """Fit and round some families."""
        schema, ends = self.basis.schema, self.ends
        first, last = int(ends[families[0]]), int(ends[families[1]])
        totals = None if self.above is None else self.above[families[0] : families[1]]
        with np.errstate(divide="ignore"):
            precision = 1 / self.target.variance[first:last]
        held = slabs(self.basis, self.limits, first, last) + self._held(
            first, last, totals, ends[slice(*families)] - first
        )
        weighed: list[Weighed | Pull | Margin] = [each.part(first, last) for each in self.pulls]
        weighed += [each.part(first, last) for each in self.ways.common] if self.ways is not None else []
        fitted = fit(
            self.basis,
            value=self.target.value[first:last],
            precision=precision,
            totals=None if totals is None else totals.astype(np.float64),
            starts=ends[families[0] : families[1]] - first,
            mask=~schema.empty,
            slabs=[*held, *weighed],
            # Rounding makes bounds exact; a thousandth of a person before it is enough.
            tolerance=1e-3 if held or weighed else 1e-6,
        )
        if not hasattr(self.local, "solver"):
            self.local.solver = Solver()
        found, fractional, wide = np.zeros_like(fitted.tables, dtype=np.int64), 0, 0
        repairs: list[tuple[str, float]] = []
        undivided: list[int] = []
        for number, family in enumerate(range(*families)):
            low, high = int(ends[family]) - first, int(ends[family + 1]) - first
            if first + low in self.decided:
                continue
            made = self._rounded(
                fitted.tables[low:high],
                None if totals is None else totals[number],
                rows(schema, self.limits, first + low, first + high, self.geography.codes[self.level]),
                first + low,
            )
            if made is None:
                undivided.append(family)
                continue
            found[low:high] = made.tables
            fractional, wide = fractional + made.fractional, wide + made.wide
            repairs += made.relaxed
        programs = families[1] - families[0]
        part = _Part(
            tables=found,
            steps=fitted.steps,
            programs=programs,
            fractional=fractional,
            wide=wide,
            repairs=repairs,
            undivided=undivided,
        )
        return first, last, part

    def _rounded(self, tables: Floats, totals: Integers | None, limited: list[Row], place: int) -> Rounded | None:
        mask = ~self.basis.schema.empty
        if self.ways is None:
            return rounded(self.local.solver, tables, totals, limited, mask=mask)
        extra = [[each.row(place) for each in way] for way in self.ways.either]
        found = [rounded(self.local.solver, tables, totals, [*limited, *each], mask=mask) for each in extra]
        made = [each for each in found if each is not None]
        return min(made, key=lambda each: float(np.abs(each.tables - tables).sum()), default=None)

    def _held(self, first: int, last: int, above: Integers | None, starts: Integers) -> list[Slab]:
        """The first pass: totals that are not negative and add up, nearest to the noisy ones; then they are held."""
        if self.totals is None or above is None:
            return []
        noisy = self.totals[first:last]
        families = Families.of(starts, last - first)
        wanted = above.sum(axis=1, keepdims=True).astype(np.float64)
        fixed = np.maximum(noisy - families.spread(simplex_shift(noisy, wanted, families)), 0.0)
        total = self.basis.schema.query(TOTAL)
        groups = self.basis.schema.groups(total)
        return [Slab(groups=groups, low=fixed, high=fixed, diagonal=self.basis.weights(total))]
