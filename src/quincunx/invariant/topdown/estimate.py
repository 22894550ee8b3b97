"""Least squares on the measurements of a tree, coordinate by coordinate (`estimate.md`).

A level's evidence is a pair: η = Σ Q'y/σ² and λ = Σ diag(Q'Q)/σ², so that η/λ is the level's own estimate and 1/λ its
variance; λ = ∞ where invariants fix a coordinate, λ = 0 where nothing was measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from quincunx.invariant.topdown.basis import Basis
from quincunx.invariant.topdown.geography import Geography
from quincunx.invariant.topdown.schema import Floats, Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """value and variance of every coordinate of every node of one level: arrays (nodes, coordinates).

    A variance of 0 is known exactly, one of inf is not known at all (its value is then 0).
    """

    value: Floats
    variance: Floats


class Known(Protocol):
    """What all measurements together say of the places of one level."""

    def of(self, query: Query) -> Estimate:
        """Values and variances of a query: arrays (places, cells of the query)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinates:
    """Independent coordinates, where every query is diagonal."""

    basis: Basis
    estimate: Estimate = field(repr=False)

    def of(self, query: Query) -> Estimate:
        """Values and variances of a query; unknown coordinates make it unknown."""
        known = np.isfinite(self.estimate.variance)
        value = self.basis.answers(query, np.where(known, self.estimate.value, 0.0))
        variance = self.basis.variances(query, np.where(known, self.estimate.variance, 0.0))
        lost = self.basis.variances(query, np.where(known, 0.0, 1.0)) > 1e-9
        # A count that is known exactly is a whole number.
        value = np.where(variance == 0, np.rint(value), value)
        return Estimate(value=np.where(lost, 0.0, value), variance=np.where(lost, np.inf, variance))


def combined(one: Estimate, other: Estimate) -> Estimate:
    """The best linear estimate from two independent ones."""
    with np.errstate(divide="ignore", invalid="ignore"):
        # The weight of the other: v₁/(v₁ + v₂), exact at 0 and ∞.
        share = one.variance / (one.variance + other.variance)
        share = np.where(np.isinf(one.variance), 1.0, np.where(np.isnan(share), 0.0, share))
        share = np.where(np.isinf(other.variance), 0.0, share)
        variance = np.where(
            np.isinf(one.variance),
            other.variance,
            np.where(np.isinf(other.variance), one.variance, one.variance * (1 - share)),
        )
    return Estimate(value=one.value + share * (other.value - one.value), variance=variance)


def summed(children: Estimate, geography: Geography, level: int) -> Estimate:
    """What the children at `level` say of their parents: sums, whose variances add."""
    starts = geography.starts[level]
    variance = np.add.reduceat(children.variance, starts, axis=0)
    value = np.add.reduceat(children.value, starts, axis=0)
    return Estimate(value=np.where(np.isinf(variance), 0.0, value), variance=variance)


def upward(own: Sequence[Estimate], geography: Geography, *, only_children: bool = False) -> list[Estimate]:
    """For each node the best estimate from its own measurements and those below it.

    only_children: pool only where a node has one child, whose table is its own (the optimised spine).
    """
    found = list(own)
    for level in range(geography.depth - 2, -1, -1):
        below = summed(found[level + 1], geography, level + 1)
        pooled = combined(own[level], below)
        if only_children:
            single = (geography.children(level) == 1)[:, None]
            pooled = Estimate(
                value=np.where(single, pooled.value, own[level].value),
                variance=np.where(single, pooled.variance, own[level].variance),
            )
        found[level] = pooled
    return found


def downward(subtree: Sequence[Estimate], geography: Geography) -> list[Estimate]:
    """For each node the best estimate from all measurements, given those of `upward`.

    With children z_c of variances v_c, S = Σ v_c, and the parent's final h of variance V:
    h_c = z_c + (v_c/S)(h − Σ z), of variance v_c − v_c²/S + (v_c/S)²·V.
    """
    found = [subtree[0]]
    for level in range(1, geography.depth):
        children, parent, owner = subtree[level], found[-1], geography.parents[level]
        starts = geography.starts[level]
        unknown = np.isinf(children.variance)
        many = np.add.reduceat(unknown, starts, axis=0, dtype=np.int64)[owner]
        variance = np.where(unknown, 0.0, children.variance)
        whole = np.add.reduceat(variance, starts, axis=0)[owner]
        gap = (parent.value - np.add.reduceat(children.value, starts, axis=0))[owner]
        above = parent.variance[owner]
        known_parent = np.isfinite(above)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where((many == 0) & (whole > 0) & known_parent, variance / whole, 0.0)
        # One child that nobody measured is what its parent and its siblings leave.
        left = unknown & (many == 1) & known_parent
        value = children.value + np.where(left, gap, share * gap)
        with np.errstate(invalid="ignore"):
            spread = variance - share * variance + share * share * np.where(known_parent, above, 0.0)
        spread = np.where(unknown, np.where(left, np.where(known_parent, above, 0.0) + whole, np.inf), spread)
        value = np.where(np.isinf(spread), 0.0, value)
        found.append(Estimate(value=value, variance=np.maximum(spread, 0.0)))
    return found
