"""A mechanism at its worst: two neighbouring inputs, what is claimed there, and how its outputs are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

# (input, how many) → that many independent outputs, one for each place of the first axis
Draw: TypeAlias = Callable[[Any, int], NDArray[Any]]

# ε at which every pure mechanism is tried.
STRENGTHS: Final = ("0.1", "0.5", "1", "2")
NEXT: Final = "values one sensitivity apart"
TOGETHER: Final = "two values that move together, as far as the sensitivity allows"
ORDERS: Final = "ρ is a supremum over all orders α, which one event does not reach."
SLOW: Final = "Drawn one at a time, as it is used: fewer draws."
# The part of the draws asked for that is drawn one at a time, beside those drawn in bulk.
BY_ITSELF: Final = Fraction(1, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a mechanism claims of itself, and the pair on which it is closest to breaking it.

    name: tells it from other trials of the same mechanism. make: the mechanism, made when it is tried. pair: two inputs
    at distance 1; words: what they are. claim: "epsilon=1", or None for the whole of its loss. tight: whether the pair
    attains the claim. draw: from the mechanism to draws; by default many copies of the input at once. share: which part
    of the draws asked for it gets. why: for the reader, where it is not tight or has a smaller share. also: public
    names that it exercises besides the mechanism.
    """

    name: str
    make: Callable[[], Any]
    pair: tuple[Any, Any]
    words: str = NEXT
    claim: str | None = None
    tight: bool = False
    draw: Callable[[Any], Draw] | None = None
    share: Fraction = Fraction(1)
    why: str = ""
    also: tuple[str, ...] = ()


def in_bulk(mechanism: Any) -> Draw:
    """Draws of a mechanism that takes arrays: the input, a number or a tuple of numbers, copied `size` times."""

    def draw(given: Any, size: int) -> NDArray[Any]:
        one = np.asarray(given, dtype=np.int64)
        return np.asarray(mechanism.sample(np.broadcast_to(one, (size, *one.shape))))

    return draw


def one_at_a_time(function: Callable[[Any], Any]) -> Draw:
    """Draws of a function that gives one output for each call."""

    def draw(given: Any, size: int) -> NDArray[Any]:
        return np.array([function(given) for _ in range(size)])

    return draw
