"""Least squares on a tree where queries are not diagonal: coordinates in small blocks (`blocks.md`).

A recode with groups of different sizes does not commute with the total, so no basis makes both diagonal. It couples few
coordinates: along its attribute those that are constant in its groups, and no others. These are the first of the axis;
a block is one choice, for each attribute, of all of them or of one other coordinate, and every query is block-diagonal.
Blocks that all queries treat alike have one covariance, places with the same numbers of children too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from quincunx.invariant.topdown.basis import Basis, orthonormal
from quincunx.invariant.topdown.budget import Invariant, Line
from quincunx.invariant.topdown.estimate import Estimate
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.measure import variance_of
from quincunx.invariant.topdown.schema import Floats, Integers, Query

# Numbers of one product: what a query's variances are made from is made in pieces.
_PIECE: Final = 1 << 22
_NOTHING: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Turned:
    """The basis for some queries. wide: for each attribute the number of coordinates that they couple, the first of the
    axis; 0 where they couple none."""

    basis: Basis
    wide: tuple[int, ...]

    @staticmethod
    def of(basis: Basis, queries: Sequence[Query]) -> Turned:
        """Axes that begin with what is constant in the common refinement of an attribute's recodes, where there is one
        that the basis does not make diagonal."""
        schema, axes, wide = basis.schema, list(basis.axes), [0] * len(basis.axes)
        for axis, (name, values) in enumerate(schema.attributes):
            recodes = {query.parts[axis] for query in queries} - {None, name}
            if recodes - {basis.grouped[axis]}:
                places = [schema.matrix(axis, part).argmax(axis=0) for part in sorted(map(str, recodes))]
                _, group = np.unique(np.stack(places, axis=1), axis=0, return_inverse=True)
                wide[axis] = int(group.max()) + 1
                groups = np.eye(wide[axis])[group.reshape(-1)]
                axes[axis] = orthonormal(np.hstack([np.ones((len(values), 1)), groups, np.eye(len(values))]))
        return Turned(basis=replace(basis, axes=tuple(axes)), wide=tuple(wide))

    def factor(self, query: Query, axis: int) -> Floats:
        """The query's matrix along an attribute, in this basis."""
        found = np.asarray(self.basis.schema.matrix(axis, query.parts[axis]) @ self.basis.axes[axis])
        # A sum over differences is 0 and not 1e-17: what is known exactly stays so.
        found[np.abs(found) < 1e-12] = 0.0
        return found

    def kinds(self, queries: Sequence[Query]) -> list[Kind]:
        """The kinds of blocks, all coordinates among them."""
        choices: list[list[tuple[Integers, bool]]] = []
        for axis, size in enumerate(self.basis.schema.sizes):
            wide = self.wide[axis]
            alone = np.arange(wide, size)
            options = [(np.arange(wide), True)] if wide else []
            if len(alone):
                squares = [(self.factor(query, axis) ** 2).sum(axis=0)[alone] for query in queries]
                _, alike = np.unique(np.round(np.stack(squares), 9), axis=1, return_inverse=True)
                options += [(alone[alike.reshape(-1) == kind], False) for kind in range(int(alike.max()) + 1)]
            choices.append(options)
        return [Kind.of(self, chosen) for chosen in itertools.product(*choices)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Blocks that all queries treat alike. chosen: for each attribute its coordinates, and whether they are coupled.
    index: (blocks, coordinates of each) in the numbering of all coordinates."""

    turned: Turned
    chosen: tuple[tuple[Integers, bool], ...]
    index: Integers = field(repr=False)

    @staticmethod
    def of(turned: Turned, chosen: Sequence[tuple[Integers, bool]]) -> Kind:
        sizes, found = turned.basis.schema.sizes, np.zeros((1, 1), dtype=np.int64)
        for (places, coupled), size in zip(chosen, sizes, strict=True):
            rows, columns = found.shape
            part = places.reshape((1, 1, 1, -1) if coupled else (1, -1, 1, 1))
            grown = found.reshape(rows, 1, columns, 1) * size + part
            found = grown.reshape(rows * grown.shape[1], columns * grown.shape[3])
        return Kind(turned=turned, chosen=tuple(chosen), index=found)

    @property
    def size(self) -> int:
        """The number of coordinates of a block."""
        return int(self.index.shape[1])

    def gram(self, query: Query) -> Floats:
        """Q'Q on each block."""
        found: Floats = np.ones((1, 1))
        for axis, (places, coupled) in enumerate(self.chosen):
            part = self.turned.factor(query, axis)[:, places]
            found = np.asarray(np.kron(found, part.T @ part) if coupled else found * float((part[:, 0] ** 2).sum()))
        return found

    def squares(self, query: Query) -> Floats:
        """For each cell q of the query Σ a·a' over the blocks, a its row on a block: (cells, size, size)."""
        found: Floats = np.ones((1, 1, 1))
        for axis, (places, coupled) in enumerate(self.chosen):
            part = self.turned.factor(query, axis)[:, places]
            outer = np.einsum("qk,ql->qkl", part, part) if coupled else (part**2).sum(axis=1)[:, None, None]
            cells, size = len(found) * len(outer), found.shape[1] * outer.shape[1]
            found = np.einsum("akl,bmn->abkmln", found, outer).reshape(cells, size, size)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Covariances of the blocks of one kind at one level. which: for each place the number of its own among them.
    covariance, unknown: (number, size, size); unknown projects on what nothing is known of."""

    kind: Kind
    which: Integers = field(repr=False)
    covariance: Floats = field(repr=False)
    unknown: Floats = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """What is known of the places of one level. value: (places, coordinates)."""

    turned: Turned
    value: Floats = field(repr=False)
    spreads: tuple[Spread, ...] = field(repr=False)

    def of(self, query: Query) -> Estimate:
        """Values and variances of a query; what touches the unknown is unknown."""
        value = self.turned.basis.answers(query, self.value)
        variance, lost = np.zeros(value.shape), np.zeros(value.shape, dtype=np.bool_)
        for each in self.spreads:
            squares = each.kind.squares(query)
            scale = np.einsum("qkk->q", squares) * np.abs(each.covariance).max(initial=0.0)
            for part in np.array_split(np.arange(query.cells), 1 + squares.size * len(each.covariance) // _PIECE):
                own = np.einsum("qkl,pkl->pq", squares[part], each.covariance, optimize=True)
                # Differences of equal numbers leave a rounding where there is nothing.
                own = np.where(own <= 1e-12 * scale[part], 0.0, own)
                missing = np.einsum("qkl,pkl->pq", squares[part], each.unknown, optimize=True)
                variance[:, part] += own[each.which]
                lost[:, part] |= (missing > _NOTHING)[each.which]
        # A count that is known exactly is a whole number.
        value = np.where(variance == 0, np.rint(value), value)
        return Estimate(value=np.where(lost, 0.0, value), variance=np.where(lost, np.inf, variance))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Below:
    """What the subtrees of a level's places say of the blocks of one kind. known: the directions that are estimated,
    (size, n), orthonormal; exact: those that are fixed, (size, e); the rest is unknown. value: estimates of known
    directions, (places, blocks, n); fixed: the fixed part, (places, blocks, size). covariance: (shapes, n, n), shape:
    each place's."""

    known: Floats
    exact: Floats
    value: Floats
    fixed: Floats
    covariance: Floats
    shape: Integers


def least_squares(
    basis: Basis,
    geography: Geography,
    measured: Sequence[tuple[Line, Integers]],
    facts: Sequence[tuple[Invariant, Integers]],
) -> list[Blocks]:
    """The best linear unbiased estimates of every level from all measurements and invariants."""
    queries = [line.query for line, _ in measured] + [fact.query for fact, _ in facts]
    turned, depth = Turned.of(basis, queries), geography.depth
    pulls = [np.zeros((geography.nodes(level), basis.schema.cells)) for level in range(depth)]
    exact = [np.zeros_like(each) for each in pulls]
    for line, answers in measured:
        pulls[line.level] += turned.basis.back(line.query, answers) / variance_of(line)
    for fact, answers in facts:
        exact[fact.level] += turned.basis.back(fact.query, answers)
    values, spreads = [np.zeros_like(each) for each in pulls], [[] for _ in range(depth)]  # type: ignore[var-annotated]
    for kind in turned.kinds(queries):
        tree = _Tree(kind=kind, geography=geography, measured=measured, facts=facts)
        for level, (value, spread) in enumerate(tree.solved(pulls, exact)):
            values[level][:, kind.index.reshape(-1)] = value.reshape(len(value), -1)
            spreads[level].append(spread)
    return [
        Blocks(turned=turned, value=value, spreads=tuple(each)) for value, each in zip(values, spreads, strict=True)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tree:
    """The blocks of one kind on the whole tree: up, then down."""

    kind: Kind
    geography: Geography
    measured: Sequence[tuple[Line, Integers]]
    facts: Sequence[tuple[Invariant, Integers]]

    def solved(self, pulls: Sequence[Floats], exact: Sequence[Floats]) -> list[tuple[Floats, Spread]]:
        """By level, values (places, blocks, size) and covariances."""
        index, below = self.kind.index, None
        levels: list[_Below] = []
        for level in range(self.geography.depth - 1, -1, -1):
            below = self._up(level, pulls[level][:, index], exact[level][:, index], below)
            levels.append(below)
        levels.reverse()
        found = [self._top(levels[0])]
        for level in range(1, self.geography.depth):
            found.append(self._down(level, levels[level], *found[-1]))
        return found

    def _up(self, level: int, pull: Floats, given: Floats, below: _Below | None) -> _Below:
        size, places = self.kind.size, self.geography.nodes(level)
        grams = [(line, self.kind.gram(line.query)) for line, _ in self.measured if line.level == level]
        precision = sum((gram / variance_of(line) for line, gram in grams), np.zeros((size, size)))
        # Which directions are known does not depend on how well: every measurement counts alike.
        seen = sum((gram / max(float(np.trace(gram)), 1e-300) for _, gram in grams), np.zeros((size, size)))
        fixing = sum(
            (self.kind.gram(fact.query) for fact, _ in self.facts if fact.level == level), np.zeros((size, size))
        )
        totals = np.zeros((1, size, size))
        shape = np.zeros(places, dtype=np.int64)
        if below is not None:
            starts = self.geography.starts[level + 1]
            seen, fixing = seen + below.known @ below.known.T, fixing + below.exact @ below.exact.T
            given = given + np.add.reduceat(below.fixed, starts, axis=0)
            spread = _summed(below.covariance, below.shape, self.geography.parents[level + 1], places)
            spread, shape = _distinct(spread)
            weight = _inverse(spread)
            totals = below.known @ weight @ below.known.T
            sums = np.add.reduceat(below.value, starts, axis=0)
            pull = pull + _applied(weight, shape, sums) @ below.known.T
        exact, rest = _range(fixing)
        fixed = given @ np.linalg.pinv(fixing, rcond=_NOTHING, hermitian=True)
        inside, _ = _range(rest.T @ seen @ rest)
        known = rest @ inside
        whole = precision + totals
        covariance = _inverse(known.T @ whole @ known)
        value = _applied(covariance, shape, (pull - _applied(whole, shape, fixed)) @ known)
        return _Below(known=known, exact=exact, value=value, fixed=fixed, covariance=covariance, shape=shape)

    def _spread(self, below: _Below, which: Integers, covariance: Floats) -> Spread:
        spread = below.known @ covariance @ below.known.T
        unknown = np.eye(self.kind.size) - below.known @ below.known.T - below.exact @ below.exact.T
        missing = np.broadcast_to(unknown, spread.shape)
        return Spread(kind=self.kind, which=which, covariance=spread, unknown=missing)

    def _top(self, below: _Below) -> tuple[Floats, Spread]:
        return below.fixed + below.value @ below.known.T, self._spread(below, below.shape, below.covariance)

    def _down(self, level: int, below: _Below, parent: Floats, above: Spread) -> tuple[Floats, Spread]:
        geography, known = self.geography, below.known
        owner, starts = geography.parents[level], geography.starts[level]
        children = geography.children(level - 1)
        spread = _summed(below.covariance, below.shape, owner, len(children))
        weight = _inverse(spread)
        # One gain for each pair of a parent and a shape; siblings of one shape share it.
        pairs, which = np.unique(owner * len(below.covariance) + below.shape, return_inverse=True)
        parents, shapes = np.divmod(pairs, len(below.covariance))
        own = below.covariance[shapes]
        gain = own @ weight[parents]
        final = known.T @ above.covariance[above.which[parents]] @ known
        covariance = own - gain @ own + gain @ final @ np.swapaxes(gain, 1, 2)
        gap = parent @ known - np.add.reduceat(below.value, starts, axis=0)
        move = gap[parents] @ np.swapaxes(gain, 1, 2)
        value = below.fixed + (below.value + move[which]) @ known.T
        made = self._spread(below, which.reshape(-1), covariance)
        # An only child is its parent, also in what nobody measured of it.
        only = children[parents] == 1
        single = (children == 1)[owner]
        value[single] = parent[owner[single]]
        covariance, unknown = made.covariance.copy(), made.unknown.copy()
        covariance[only] = above.covariance[above.which[parents[only]]]
        unknown[only] = above.unknown[above.which[parents[only]]]
        return value, replace(made, covariance=covariance, unknown=unknown)


def _summed(covariance: Floats, shape: Integers, owner: Integers, parents: int) -> Floats:
    """Σ over children, for every parent: (parents, n, n). Children of one shape are counted, not added up."""
    pairs, counts = np.unique(owner * len(covariance) + shape, return_counts=True)
    parent, kind = np.divmod(pairs, len(covariance))
    starts = np.searchsorted(parent, np.arange(parents))
    return np.asarray(np.add.reduceat(counts[:, None, None] * covariance[kind], starts, axis=0))


def _inverse(matrices: Floats) -> Floats:
    return np.asarray(np.linalg.inv(matrices), dtype=np.float64)


def _applied(matrices: Floats, which: Integers, vectors: Floats) -> Floats:
    """Symmetric matrices[which[p]] on all vectors (places, blocks, n) of place p."""
    return np.asarray(vectors @ (matrices[0] if len(matrices) == 1 else matrices[which]))


def _distinct(matrices: Floats) -> tuple[Floats, Integers]:
    if not matrices.size:
        return matrices[:1], np.zeros(len(matrices), dtype=np.int64)
    flat, which = np.unique(matrices.reshape(len(matrices), -1), axis=0, return_inverse=True)
    return flat.reshape(len(flat), *matrices.shape[1:]), which.reshape(-1)


def _range(matrix: Floats) -> tuple[Floats, Floats]:
    """Orthonormal bases of the range of a symmetric matrix that is not negative, and of what it takes to 0."""
    if not len(matrix):
        return matrix, matrix
    sizes, vectors = np.linalg.eigh(matrix)
    kept = sizes > _NOTHING * max(float(sizes.max(initial=0.0)), 1e-300) * math.sqrt(len(matrix) or 1)
    return vectors[:, kept], vectors[:, ~kept]
