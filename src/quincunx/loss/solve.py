"""The ε at which a falling δ(ε) crosses a goal, between two verified floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from quincunx.numbers import Ball

# The bracket is closed to this relative width.
WIDTH: Final = 1e-12
_MOST_STEPS: Final = 200


def first_within(delta: Callable[[float], Ball], goal: Ball, ceiling: float, guess: float = 1.0) -> float:
    """A float ε with a certified δ(ε) ≤ goal, close to the smallest; `ceiling` is known to do, or infinite."""
    return _crossing(delta, goal, ceiling, guess, lambda value: bool(value <= goal))[1]


def last_beyond(delta: Callable[[float], Ball], goal: Ball, ceiling: float, guess: float = 1.0) -> float:
    """A float ε with a certified δ(ε) > goal, close to the largest; 0 where there is none."""
    return _crossing(delta, goal, ceiling, guess, lambda value: not value > goal)[0]


def _crossing(
    delta: Callable[[float], Ball], goal: Ball, ceiling: float, guess: float, done: Callable[[Ball], bool]
) -> tuple[float, float]:
    """Floats low < high with not done(δ(low)) and done(δ(high)), or (0, 0) where δ(0) is done."""

    def excess(at: float) -> tuple[bool, float]:
        value = delta(at)
        # ln(δ/goal) steers; `done` decides.
        ratio = value / goal
        return done(value), float(ratio.log().mid()) if ratio > 0 else -math.inf

    finished, above = excess(0.0)
    if finished:
        return 0.0, 0.0
    low, high = 0.0, min(max(guess, 1e-12), ceiling)
    while high < ceiling:
        finished, below = excess(high)
        if finished:
            break
        low, above = high, below
        high = min(high * 1.25 if high > guess else high * 1.001, ceiling) if math.isfinite(guess) else high * 2
        if high > 2.0**1000:
            return low, math.inf
    else:
        if math.isinf(ceiling):
            return low, math.inf
        below = -math.inf
    return _narrow(excess, low, above, high, below)


def _narrow(
    excess: Callable[[float], tuple[bool, float]], low: float, above: float, high: float, below: float
) -> tuple[float, float]:
    for step in range(_MOST_STEPS):
        width = high - low
        if width <= WIDTH * high:
            break
        middle = (low + high) / 2
        if step % 3 != 2 and math.isfinite(above) and math.isfinite(below) and above > below:
            # Regula falsi on ln δ, pushed a little towards the end that moved last so that both ends close in.
            middle = low + width * min(max(above / (above - below), 0.0), 1.0)
            push = max(WIDTH * high / 4, width * 1e-3)
            middle += push if step % 3 == 0 else -push
            middle = min(max(middle, low + width * 1e-9), high - width * 1e-9)
        if not low < middle < high:
            break
        finished, value = excess(middle)
        if finished:
            high, below = middle, value
        else:
            low, above = middle, value
    return low, high
