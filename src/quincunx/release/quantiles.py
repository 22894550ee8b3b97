"""What a share of a spend buys for quantiles: cuts, and counts between them. See quantiles.md."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import Final

from quincunx.mechanisms import Additive, QuantileChoice, QuantileCuts, QuantileFlip, Ranks
from quincunx.table import Grid, Measure

# Of the share: the total, which places cuts beside each level; the cuts; the counts between them.
TOTAL: Final = Fraction(3, 100)
CUTS: Final = Fraction(62, 100)
COUNTS: Final = Fraction(35, 100)
# By how many units of score a bucket that holds the rank stands out.
RISE: Final = 3
# Into how many positions a bucket is divided: 2^32 parts of a row at most, so that 2^30 rows are counted exactly.
_WEIGHTED: Final = 2**12
_PLAIN: Final = 2**16


def quantiles(
    measure: Measure,
    grid: Grid,
    share: Fraction,
    noise: Callable[[Fraction, Fraction], Additive],
    choices: Fraction = Fraction(1),
) -> Ranks:
    """The mechanism; noise: (distance squared, share) → noise of the question's kind. choices: of a share, what it is
    to a choice where it is 1 to noise."""
    norm, buckets = measure.vector.norm, measure.high - measure.low + 1
    if len(grid.levels) == 1 and not grid.interval:
        (level,), weight, moves, apart = grid.levels, grid.weight, grid.moves, grid.apart
        if norm == 1:
            return QuantileFlip(level=level, buckets=buckets, epsilon=share, weight=weight, moves=moves, apart=apart)
        eta = root_below(8 * share * choices)
        return QuantileChoice(level=level, buckets=buckets, eta=eta, weight=weight, norm=norm, moves=moves, apart=apart)
    split = _WEIGHTED if measure.vector.bits else _PLAIN
    square = Fraction(grid.weight) ** 2
    count = bins = None
    if grid.interval:
        # Weights are not negative: somebody who moves shifts the total of one group by no more than who comes or goes.
        count = noise(square * _moved(norm, moves=grid.moves and grid.apart), share * TOTAL)
        bins = noise(square * split**2 * _moved(norm, moves=grid.moves), share * COUNTS)
    cuts = len(grid.levels) * (3 if grid.interval else 1)
    each = share * (CUTS if grid.interval else 1) / cuts.bit_length()
    return QuantileCuts(
        levels=grid.levels,
        buckets=buckets,
        split=split,
        # In norm 2 a depth of range η costs η²/8.
        eta=each if norm == 1 else root_below(8 * each * choices),
        weight=grid.weight,
        norm=norm,
        moves=grid.moves,
        apart=grid.apart,
        count=count,
        bins=bins,
        rise=RISE,
    )


def _moved(norm: int, *, moves: bool) -> int:
    """How far a move reaches, squared, where coming or going reaches 1, of weights that are not negative."""
    return 1 if not moves else 4 if norm == 1 else 2


def root_below(square: Fraction) -> Fraction:
    """√square, or less than 2^−64 less."""
    return Fraction(isqrt(int(square * 4**64)), 2**64)
