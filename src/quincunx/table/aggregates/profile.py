"""Ends of a profile: how far a parameter may be from its estimate before the noise cannot explain it. See linear.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx.table.aggregates.estimate import Floats

# 2^50 halvings of the declared range are finer than any published digit.
_HALVINGS: Final = 50
# What float64 arithmetic of a few operations may lose, with room to spare.
SLACK: Final = 2.0**-48


def end(possible: Callable[[Floats], NDArray[np.bool_]], inside: Floats, outside: Floats) -> Floats:
    """From `inside` towards `outside`, the first value that is not possible; `outside` where all are.

    inside: a value that is possible, on the other side of `outside` where that is possible too.
    """
    side = outside
    everything = possible(outside)
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        here = possible(middle) | everything
        inside, outside = np.where(here, middle, inside), np.where(here, outside, middle)
    return np.where(everything, side, outside)


def pieces(low: Floats, high: Floats, count: int) -> tuple[Floats, Floats]:
    """An interval of each group in so many pieces, one in each row: their lower and their upper ends."""
    width, piece = (high - low) / count, np.arange(count)[:, np.newaxis]
    # Outwards by a hair, so that nothing falls between two pieces.
    hair = SLACK * (np.abs(low) + np.abs(high))
    return low + piece * width - hair, low + (piece + 1) * width + hair
