"""From evidence to whole tables: root first, then every family of siblings under the table of its parent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from quincunx.errors import UnavailableError
from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.batch import Fixed, Task, transported
from quincunx.invariant.topdown.estimate import Estimate
from quincunx.invariant.topdown.fit import Margin, Pull
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.limits import Limit, relaxed
from quincunx.invariant.topdown.rounding import Solver, UnsolvedError, Ways
from quincunx.invariant.topdown.schema import Floats, Integers
from quincunx.invariant.topdown.together import Atoms, Subtree, together
from quincunx.invariant.topdown.workers import Workers

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _World:
    """What is solved. totals: by level, noisy totals that are fitted first. pulls: by level, what else is known."""

    basis: Basis
    geography: Geography
    targets: Sequence[Estimate]
    limits: Sequence[Sequence[Limit]]
    totals: Mapping[int, Floats]
    ways: Ways | None
    pulls: Sequence[Sequence[Pull | Margin]]

    def ends(self, level: int) -> Integers:
        """Where each family of a level begins, and the end; each node of the first level is a family of its own."""
        count = self.geography.nodes(level)
        return np.append(self.geography.starts[level] if level else np.arange(count), count)

    def batches(self, level: int) -> Iterator[tuple[int, int]]:
        """Ranges of families. They do not depend on the number of cores, so neither does the result."""
        ends = self.ends(level)
        first, size = 0, 0
        for family in range(len(ends) - 1):
            size += int(ends[family + 1] - ends[family]) * self.basis.schema.cells
            if size >= _BATCH:
                yield first, family + 1
                first, size = family + 1, 0
        if first < len(ends) - 1:
            yield first, len(ends) - 1

    def task(self, level: int, families: tuple[int, int], above: Integers | None, skip: frozenset[int]) -> Task:
        """The families of a level, under the tables of their parents. skip: families that are decided elsewhere."""
        ends = self.ends(level)
        first, last = int(ends[families[0]]), int(ends[families[1]])
        ways, held = self.ways if level == 0 else None, self.totals.get(level)
        return Task(
            value=self.targets[level].value[first:last],
            variance=self.targets[level].variance[first:last],
            starts=ends[families[0] : families[1]] - first,
            totals=None if above is None else above[families[0] : families[1]],
            limits=tuple(
                replace(each, low=each.low[first:last], high=each.high[first:last]) for each in self.limits[level]
            ),
            held=None if held is None else held[first:last],
            pulls=tuple(each.part(first, last) for each in (self.pulls[level] if self.pulls else ())),
            common=() if ways is None else tuple(each.part(first, last) for each in ways.common),
            either=() if ways is None else tuple(tuple(each.part(first, last) for each in way) for way in ways.either),
            skip=frozenset(each - families[0] for each in skip if families[0] <= each < families[1]),
        )


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
    sums that the nodes of the first level keep. pulls: by level, what else is known of weighted sums, with noise."""
    world = _World(
        basis=basis,
        geography=geography,
        targets=targets,
        limits=limits,
        totals=totals or {},
        ways=ways,
        pulls=pulls,
    )
    tables: list[Integers] = []
    steps, programs, fractional, wide = [], 0, 0, 0
    leaves = geography.nodes(geography.depth - 1) * basis.schema.cells
    with Workers(basis, numbers=leaves, count=cores) as workers:
        whole = _Whole(world=world, workers=workers, tables=tables)
        for level in range(geography.depth):
            ends, above = world.ends(level), tables[-1] if tables else None
            made = np.empty((geography.nodes(level), basis.schema.cells), dtype=np.int64)
            tables.append(made)
            skip, batches = whole.families(level), list(world.batches(level))
            undivided: list[int] = []
            most, done = 0, 0
            parts = workers.map(world.task(level, each, above, skip) for each in batches)
            for (low, high), part in zip(batches, parts, strict=True):
                made[ends[low] : ends[high]] = part.tables
                most, programs = max(most, part.steps), programs + high - low
                fractional, wide = fractional + part.fractional, wide + part.wide
                undivided += [low + each for each in part.undivided]
                done += int(ends[high] - ends[low])
                if progress is not None:
                    progress(geography.names[level], done, geography.nodes(level))
            whole.divide(level, skip)
            for family in undivided:
                whole.mend(level, family)
            steps.append(most)
    return Solved(
        tables=tuple(tables),
        steps=tuple(steps),
        programs=programs,
        fractional=fractional,
        wide=wide,
        joint=whole.joint,
        unproved=whole.unproved,
        repairs=tuple(relaxed(basis.schema, geography, limits, tables)),
    )


@dataclass(slots=True, kw_only=True)
class _Whole:
    """Subtrees that are solved as a whole. decided: by level, the sums of atoms of nodes below them."""

    world: _World
    workers: Workers
    tables: list[Integers]
    joint: int = 0
    unproved: int = 0
    decided: list[dict[int, Integers]] = field(default_factory=list)
    _made: list[tuple[Solver, Atoms]] = field(default_factory=list)
    _wanted: dict[int, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.decided = [{} for _ in range(self.world.geography.depth)]

    def families(self, level: int) -> frozenset[int]:
        """The families of a level whose sums are decided."""
        if not self.decided[level]:
            return frozenset()
        starts = self.world.ends(level)[:-1]
        return frozenset(np.flatnonzero(np.isin(starts, list(self.decided[level]))).tolist())

    def mend(self, level: int, family: int) -> None:
        """Decide the smallest subtree around a family of `level` that can be solved, and divide it down to the level.

        A family of siblings is named by its parent, which cannot be divided; so it and its own siblings are made anew
        with all that is below them, under the table of their parent; if there are none, one generation higher.
        """
        geography = self.world.geography
        if int(self.world.ends(level)[family]) in self.decided[level]:
            return
        top, node = max(level - 1, 0), family
        while True:
            parent = int(geography.parents[top][node]) if top else -1
            ends = self.world.ends(top)
            nodes = (int(ends[parent]), int(ends[parent + 1])) if top else (node, node + 1)
            found = self._found(top, nodes, parent)
            if found is not None:
                break
            if not top:
                hint = "They contradict each other. The measurements are in the ledger; nothing is lost."
                where = f"{geography.names[0]} {geography.codes[0][node]}"
                raise UnavailableError("no table satisfies the invariants of this place", where=where, hint=hint)
            top, node = top - 1, parent
        self.joint, self.unproved = self.joint + 1, self.unproved + (not found.nearest)
        for depth, (begin, part) in enumerate(zip(found.first, found.sums, strict=True)):
            self.decided[top + depth].update({begin + place: sums for place, sums in enumerate(part)})
        for below in range(top, level + 1):
            starts, (first, last) = self.world.ends(below)[:-1], self._span(found, below)
            inside = np.flatnonzero((starts >= first) & (starts < last))
            self.divide(below, frozenset(inside.tolist()))

    def divide(self, level: int, families: frozenset[int]) -> None:
        """Tables of families whose sums are decided: transport, which can always be done (`together.md`)."""
        world, above = self.world, self.tables[level - 1] if level else None
        ends = world.ends(level)
        for family in sorted(families):
            first, last = int(ends[family]), int(ends[family + 1])
            task = world.task(level, (family, family + 1), above, frozenset())
            fixed = None
            if first in self.decided[level]:
                sums = np.stack([self.decided[level][place] for place in range(first, last)])
                fixed = Fixed(atoms=self._atoms.of, sums=sums)
            part = self.workers.own(replace(task, limits=(), common=(), either=(), held=None, fixed=fixed))
            made = part.tables
            if part.undivided and fixed is not None:
                made = transported(fixed, None if above is None else above[family])
            self.tables[level][first:last] = made

    def _span(self, found: Subtree, level: int) -> tuple[int, int]:
        """The nodes of a level in a subtree."""
        depth = level - found.top
        if depth < len(found.sums):
            return found.first[depth], found.first[depth] + len(found.sums[depth])
        first, last = self._span(found, level - 1)
        ends = self.world.ends(level)
        return int(ends[first]), int(ends[last])

    @property
    def _solver(self) -> Solver:
        return self._tools[0]

    @property
    def _atoms(self) -> Atoms:
        return self._tools[1]

    @property
    def _tools(self) -> tuple[Solver, Atoms]:
        if not self._made:
            self._made.append((Solver(), Atoms.made(self.world.basis.schema, self.world.limits)))
        return self._made[0]

    def _found(self, top: int, nodes: tuple[int, int], parent: int) -> Subtree | None:
        """The nearest sums of a subtree; where that search ends without an answer, one generation higher; at the top
        whatever sums there are, which were seen to be some before anything was spent."""
        world, geography, atoms = self.world, self.world.geography, self._atoms
        asked = (self._solver, atoms, world.basis.schema, geography, world.limits)
        totals = atoms.sums(self.tables[top - 1][[parent]])[0] if top else None
        near, (first, last) = [], nodes
        for level in range(top, atoms.last + 1):
            near.append(self._near(level)[first:last])
            if level < atoms.last:
                ends = np.append(geography.starts[level + 1], geography.nodes(level + 1))
                first, last = int(ends[first]), int(ends[last])
        try:
            return together(*asked, top=top, nodes=nodes, totals=totals, targets=near)
        except UnsolvedError:
            if top:
                return None
        try:
            found = together(*asked, top=0, nodes=nodes)
        except UnsolvedError:
            return None
        return None if found is None else replace(found, nearest=False)

    def _near(self, level: int) -> Floats:
        """The sums of a level that those of a subtree are to be near; made once, however many are mended."""
        if level not in self._wanted:
            self._wanted[level] = self._atoms.sums(self.world.basis.tables(self.world.targets[level].value))
        return self._wanted[level]
