"""What a share of a spend buys for counts of bins: one noise for the counts of all levels. See tree.md."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from quincunx.mechanisms import Additive, CountTree
from quincunx.table import Grid, Measure

# Where nobody is weighted, noise is drawn on a finer lattice than whole rows: an interval has a lattice unit of slack
# for each count that it is read from.
_PLAIN: Final = 2**10


def tree(measure: Measure, grid: Grid, share: Fraction, noise: Callable[[Fraction, Fraction], Additive]) -> CountTree:
    """The mechanism; noise: (distance squared, share) → noise of the question's kind."""
    split = 1 if measure.vector.bits else _PLAIN
    return CountTree(
        bins=measure.high - measure.low + 1,
        branching=grid.branching,
        split=split,
        noise=noise(max(measure.sensitivity2, Fraction(1)) * split**2, share),
    )
