"""The ε at which a falling δ(ε) crosses a goal, between two verified floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from quincunx.numbers import Ball

# The bracket is closed to this relative width.
WIDTH: Final = 1e-12
_MOST_STEPS: Final = 200
# Beyond this ε nothing is looked for.
_FARTHEST: Final = 2.0**1000


def first_within(
    delta: Callable[[float], Ball], goal: Ball, ceiling: float, guess: float = 1.0, width: float = WIDTH
) -> float:
    """A float ε with a certified δ(ε) ≤ goal, close to the smallest; `ceiling` is known to do, or infinite."""
    return _crossing(delta, goal, ceiling, guess, width, lambda value: bool(value <= goal))[1]


def last_beyond(
    delta: Callable[[float], Ball], goal: Ball, ceiling: float, guess: float = 1.0, width: float = WIDTH
) -> float:
    """A float ε with a certified δ(ε) > goal, close to the largest; 0 where there is none."""
    return _crossing(delta, goal, ceiling, guess, width, lambda value: not value > goal)[0]


@dataclass(frozen=True, slots=True)
class _Point:
    """An ε that was asked: whether it is done, and ln(δ/goal), which steers and decides nothing."""

    at: float
    done: bool
    excess: float


def _crossing(
    delta: Callable[[float], Ball], goal: Ball, ceiling: float, guess: float, width: float, done: Callable[[Ball], bool]
) -> tuple[float, float]:
    """Floats low < high with not done(δ(low)) and done(δ(high)), or (0, 0) where δ(0) is done."""

    def ask(at: float) -> _Point:
        if at >= ceiling:
            return _Point(ceiling, True, -math.inf)
        value = delta(at)
        ratio = value / goal
        return _Point(at, done(value), float(ratio.log().mid()) if ratio > 0 else -math.inf)

    here = ask(min(max(guess, 1e-12), ceiling) if math.isfinite(guess) else min(1.0, ceiling))
    # Tails fall about like e^{−ε²}, so that ln δ has the slope −2·ln(1/δ)/ε: a first step that mostly brackets.
    depth = max(0.1, -float(goal.log().mid()))
    step = here.at * (0.51 * abs(here.excess) / depth + width / 4)
    step, growth = (step if math.isfinite(step) else here.at / 2), 4.0
    while True:
        following = ask(max(0.0, here.at - step) if here.done else here.at + step)
        if following.done != here.done:
            return _narrow(ask, *((following, here) if here.done else (here, following)), width)
        if following.at == 0:
            return 0.0, 0.0
        if following.at > _FARTHEST:
            return following.at, math.inf
        # By the secant where it points farther; what is far away is reached by growing leaps.
        slope = (here.excess - following.excess) / (following.at - here.at)
        secant = 1.02 * abs(following.excess) / slope if math.isfinite(slope) and slope > 0 else 0.0
        here, step = following, min(max(growth * step, secant), 2 * _FARTHEST)
        growth = min(growth * growth, 2.0**64) if step > here.at else growth


def _narrow(ask: Callable[[float], _Point], low: _Point, high: _Point, width: float) -> tuple[float, float]:
    side, slow = 1.0, 0
    for _ in range(_MOST_STEPS):
        gap = high.at - low.at
        if gap <= width * high.at:
            break
        middle = (low.at + high.at) / 2
        # A bracket that shrinks slowly is halved, and so is one whose ends say nothing.
        if slow < 2 and math.isfinite(low.excess) and math.isfinite(high.excess) and low.excess > high.excess:
            # Regula falsi on ln δ, pushed towards the end that did not move last, so that both close in.
            middle = low.at + gap * min(max(low.excess / (low.excess - high.excess), 0.0), 1.0)
            middle += side * max(width * high.at / 3, gap * 1e-3)
            if not low.at < middle < high.at:
                # Pushed beyond an end that is already close to the crossing.
                middle = (low.at + high.at) / 2
        if not low.at < middle < high.at:
            break
        found = ask(middle)
        low, high, side = (low, found, -1.0) if found.done else (found, high, 1.0)
        slow = slow + 1 if high.at - low.at > gap / 4 and slow < 2 else 0
    return low.at, high.at
