"""Siblings that stand together in an array: sums over them, and spreading to them, by the fastest way for their number.

Many programs have one parent or parents with equally many children; both are sums along an axis, several times faster
than sums over ranges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from quincunx.invariant.topdown.schema import Floats, Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Families:
    """starts: where each family begins. counts: how many it has. owner: each place's family. even: the number of every
    family where it is the same for all, else 0."""

    starts: Integers = field(repr=False)
    counts: Integers = field(repr=False)
    owner: Integers = field(repr=False)
    even: int

    @staticmethod
    def of(starts: Integers, places: int) -> Families:
        """Families that begin at `starts`, among so many places."""
        counts = np.diff(np.append(starts, places))
        even = int(counts[0]) if (counts == counts[0]).all() else 0
        return Families(starts=starts, counts=counts, owner=np.repeat(np.arange(len(starts)), counts), even=even)

    def sums(self, values: Floats) -> Floats:
        """(places, …) to (families, …)."""
        if self.even:
            return np.asarray(values.reshape(len(self.counts), self.even, *values.shape[1:]).sum(axis=1))
        return np.asarray(np.add.reduceat(values, self.starts, axis=0))

    def largest(self, values: Floats) -> Floats:
        """(places,) to (families,)."""
        return np.asarray(np.maximum.reduceat(values, self.starts))

    def most(self, arrays: Sequence[Floats]) -> Floats:
        """The largest size of a number in each family, over some arrays (places, numbers)."""
        worst: Floats = np.zeros(len(self.owner))
        for each in arrays:
            worst = np.maximum(worst, np.maximum(each.max(axis=1), -each.min(axis=1)))
        return self.largest(worst)

    def spread(self, values: Floats) -> Floats:
        """(families, …) to (places, …), or to what broadcasts to it where there is one family."""
        return values if len(self.counts) == 1 else values[self.owner]
