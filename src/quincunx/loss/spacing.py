"""How fine a grid must be: where to look and how closely, in floats. A poor choice widens bounds and breaks none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from quincunx.loss.grid_moments import real_moment
from quincunx.loss.inversion import Inversion
from quincunx.loss.law import Terms, View

# A grid of one law begins with at least and ends with at most about so many cells.
_FEWEST_CELLS: Final = 1 << 11
_MOST_CELLS: Final = 1 << 20
_CELLS_IN_RATE: Final = 32
# The share of ε that grids may cost.
_SHARE: Final = 2e-4
# How often it is looked for the right ε.
_LOOKS: Final = 3
# The δ at which a grid is judged.
_DELTAS: Final = (1e-3, 1e-6, 1e-9)


def spacing(terms: Terms, cut: float, faintest: float = _DELTAS[-1]) -> float:
    """A spacing at which the dominating and the dominated law are close enough where δ(ε) is from 1e-3 to `faintest`.

    ln δ moves by as much as K(σ) does, so ε moves by that divided by σ.
    """
    sampled = [(law, count) for law, count in terms if law.span(cut) > 0]
    span = max(law.span(cut) for law, _ in sampled)
    finest, coarse = 2.0 ** math.floor(math.log2(span / _MOST_CELLS)), span / _FEWEST_CELLS
    if len(sampled) == len(terms):
        # Few uses of a small rate have an ε that only a grid as fine as the rate sees.
        coarse = min(coarse, *(law.resolution / _CELLS_IN_RATE for law, _ in sampled), coarse)
    view = View(mesh=max(finest, 2.0 ** math.floor(math.log2(coarse))), cut=cut)
    for _ in range(_LOOKS):
        pilot, before = Inversion(terms, view), view
        deltas = (*_DELTAS, faintest) if faintest < _DELTAS[-1] / 1000 else _DELTAS
        places = [(at, pilot.abscissa(at)) for delta in deltas if (at := where(pilot.estimate, delta)) > 0]
        view = _refined(sampled, places, view, finest)
        # A first look may have been too coarse to find the right ε: look again.
        if view == before:
            break
    return view.mesh


def _refined(sampled: Terms, places: list[tuple[float, float]], view: View, finest: float) -> View:
    best, least = view, math.inf
    while places:
        worst = max(_apart(sampled, view, sigma) / (sigma * epsilon) for epsilon, sigma in places)
        if worst < least:
            best, least = view, worst
        # Too fine a grid loses to rounding what it wins.
        if worst <= _SHARE or worst > least or view.mesh <= finest:
            break
        # Errors fall with the square of the spacing at best.
        finer = min(16.0, 2.0 ** max(1, math.ceil(math.log2(worst / _SHARE) / 2)))
        view = replace(view, mesh=max(view.mesh / finer, finest))
    return best


def _apart(sampled: Terms, view: View, sigma: float) -> float:
    total = 0.0
    for law, count in sampled:
        above, below = law.grid(view), law.grid(replace(view, below=True))
        if above is not None and below is not None:
            total += count * abs(real_moment(above, sigma) - real_moment(below, sigma))
    return total


def where(estimate: Callable[[float], float], delta: float) -> float:
    """About the ε at which a falling estimate reaches `delta`; 0 where it is below from the start."""
    if estimate(0.0) <= delta:
        return 0.0
    low, high = 0.0, 1.0
    while estimate(high) > delta and high < 1e6:
        low, high = high, 2 * high
    while high - low > 1e-6 * high and high > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if estimate(middle) > delta else (low, middle)
    return high
