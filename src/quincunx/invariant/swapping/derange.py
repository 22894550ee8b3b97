"""From a uniform permutation to a uniform derangement, by inserting the fixed places (`rearrange.md`).

A uniform permutation without its fixed places is a uniform derangement of the others. The recursion
D(c) = (c − 1)·(D(c − 1) + D(c − 2)) says how a further place enters: after one of the c − 1 others, or exchanging with
one of them, which then must not belong to the derangement that is extended.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from quincunx import noise
from quincunx.invariant.swapping.epsilon import derangements, growth
from quincunx.noise import choose, source
from quincunx.numbers import Ball, ball

Integers = NDArray[np.int64]
# Groups of this size are mended; smaller ones are drawn again.
LARGE: Final = 1 << 12
_COUNTED: Final = 60
_NONE: Final = -1


def derange(order: Integers, start: int) -> None:
    """Make the uniform permutation `order` of start, start + 1, … a uniform derangement, in place."""
    local = order - start
    fixed = np.flatnonzero(local == np.arange(len(local)))
    _mend(local, np.ones(len(local), dtype=np.bool_), fixed.tolist())
    order[:] = local + start


def _mend(local: Integers, held: NDArray[np.bool_], fixed: list[int]) -> None:
    """Make `local` a uniform derangement of the places in `held`, given that it is one of those outside `fixed`."""
    entering, steps = list(fixed), list[tuple[int, int]]()
    count = int(held.sum())
    while entering:
        place = entering.pop()
        held[place] = False
        partner = _one_of(held) if _exchanges(count) else _NONE
        steps.append((place, partner))
        count -= 1
        if partner == _NONE:
            continue
        held[partner] = False
        count -= 1
        if partner in entering:
            entering.remove(partner)
            continue
        # The derangement in hand contains the partner, so another one of the places that are left is drawn.
        rest = np.flatnonzero(held)
        local[rest] = rest[noise.permutation(count)]
        _mend(local, held, rest[local[rest] == rest].tolist())
        break
    for place, partner in reversed(steps):
        if partner == _NONE:
            before = _one_of(held)
            local[place], local[before] = local[before], place
        else:
            local[place], local[partner] = partner, place
            held[partner] = True
        held[place] = True


def _exchanges(count: int) -> bool:
    """Whether a place of a uniform derangement of `count` places exchanges with another: (c − 1)·D(c − 2)/D(c)."""
    if count <= 3:
        return count == 2
    return bool(choose(source(), lambda: [_chance(count)], 1)[0] == 0)


def _chance(count: int) -> Ball:
    if count < _COUNTED:
        return ball((count - 1) * derangements(count - 2)) / ball(derangements(count))
    return ball(count - 1) / (growth(count) * growth(count - 1))


def _one_of(held: NDArray[np.bool_]) -> int:
    """One of the places that are held, uniformly. Those that are not are few."""
    while True:
        place: int = noise.uniform_integers(len(held))
        if held[place]:
            return place
