"""What a share of a spend buys for a sum whose bound is chosen from a ladder. See ladder.md."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from quincunx.mechanisms import Additive, LadderSum
from quincunx.release.quantiles import root_below
from quincunx.table import Ladder, Measure

# Of the share of the sum, for the choice of its bound.
PRICE: Final = Fraction(1, 4)
# What a rung more is worth, in logarithms of chances.
STEEP: Final = Fraction(3)


def laddered(
    measure: Measure,
    ladder: Ladder,
    share: Fraction,
    noise: Callable[[Fraction, Fraction], Additive],
    choices: Fraction = Fraction(1),
) -> LadderSum:
    """The mechanism; noise: (distance squared, share) → noise of the question's kind. choices: of a share, what it is
    to a choice where it is 1 to noise."""
    price = share * PRICE
    return LadderSum(
        # In norm 2 a choice of range η costs η²/8.
        eta=price * choices if measure.vector.norm == 1 else root_below(8 * price * choices),
        weight=ladder.weight,
        # Where no row can move a sum its noise is still that of one lattice unit.
        squares=tuple(max(rung.sensitivity2, Fraction(1)) for rung in ladder.rungs),
        noise=noise(Fraction(1), share - price),
        steep=STEEP,
    )
