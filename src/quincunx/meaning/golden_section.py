"""The place where a function of one number is small. Where a bound holds at every place, a poor one only loosens it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

_RATIO: Final = (math.sqrt(5) - 1) / 2


def smallest(function: Callable[[float], float], low: float, high: float, *, steps: int = 42) -> float:
    """The x in [low, high] with the smallest value met by golden section; the minimum itself where there is one dip."""
    found = {x: function(x) for x in (low, high)}
    left, right = high - _RATIO * (high - low), low + _RATIO * (high - low)
    found[left], found[right] = function(left), function(right)
    for _ in range(steps):
        if found[left] <= found[right]:
            high, right = right, left
            left = high - _RATIO * (high - low)
            found[left] = function(left)
        else:
            low, left = left, right
            right = low + _RATIO * (high - low)
            found[right] = function(right)
    return min(found, key=lambda x: (found[x], x))
